import FoundationEssentials

/// Creates a directory for `body`, and removes it with its content afterwards.
package func withTemporaryDirectory<R>(_ body: (_ path: String) async throws -> R) async throws -> R {
    let files = FileManager.default
    let directory = files.temporaryDirectory.appending(path: "storeledger-test-\(UUID().uuidString)")
    try files.createDirectory(at: directory, withIntermediateDirectories: false)
    defer {
        // A directory that cannot be removed does not fail the test.
        try? files.removeItem(at: directory)
    }
    return try await body(directory.path)
}
