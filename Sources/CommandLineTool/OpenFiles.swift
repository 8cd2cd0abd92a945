import Glibc

/// The number of files and connections that the process may have open.
enum OpenFiles {
    /// Kept for the database, logs and libraries.
    static let reserve = 128

    /// Raises the limit as far as the system allows without privileges.
    ///
    /// - Returns: The new limit, at least 256.
    static func raiseLimit() -> Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 256 }
        if limit.rlim_cur < limit.rlim_max {
            var raised = rlimit(rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max)
            if unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
        }
        return max(256, Int(clamping: limit.rlim_cur))
    }
}
