import Platform

/// The number of files and connections that the process may have open.
enum OpenFiles {
    /// Kept for the database, logs and libraries.
    static let reserve = 128

    /// Raises the limit as far as the system allows without privileges.
    ///
    /// - Returns: The new limit, at least 256.
    static func raiseLimit() -> Int {
        max(256, raiseOpenFileLimit().map { Int(clamping: $0) } ?? 0)
    }
}
