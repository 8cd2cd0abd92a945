import FoundationEssentials

/// Makes a new directory for `body` alone, and removes it with all that is in it afterwards.
package func withTemporaryDirectory<R>(_ body: (_ path: String) async throws -> R) async throws -> R {
    let files = FileManager.default
    let directory = files.temporaryDirectory.appending(path: "storeledger-test-\(UUID().uuidString)")
    try files.createDirectory(at: directory, withIntermediateDirectories: false)
    defer {
        // A directory that stays behind in the temporary directory fails no test.
        try? files.removeItem(at: directory)
    }
    return try await body(directory.path)
}
