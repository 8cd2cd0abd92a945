import FoundationEssentials
import Testing

/// Known-answer files next to the checkout; never part of it.
enum SharedFiles {
    /// `STORELEDGER_SHARED`, or `../shared` seen from the package's root.
    private static let directory: String =
        ProcessInfo.processInfo.environment["STORELEDGER_SHARED"]
        ?? URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "../shared").path

    static let missing: Comment = "The known-answer files are not here; set STORELEDGER_SHARED to their directory."

    static func exist(_ path: String) -> Bool {
        FileManager.default.isReadableFile(atPath: directory + "/" + path)
    }

    static func bytes(_ path: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(filePath: directory + "/" + path)))
    }
}
