import Basics
import FoundationEssentials
package import JobFiles
package import Ledger
import ObjectStorage
import Platform

/// Checks that a job's files could be published, in a folder or in a bucket.
///
/// Nothing stays that is created.
///
/// - Throws: ``LedgerError/cannotCreate(path:reason:)``, ``ObjectStorageError``.
package func checkOutput(_ files: FileOutput) async throws {
    guard let url = BucketURL(files.directory) else { return try checkOutputDirectory(files.directory) }
    let access = try BucketAccess(url, environment: ProcessInfo.processInfo.environment)
    try await onBlockingThread {
        let bucket = try Bucket(access)
        _ = try OutputBucket.temporaryFile(for: files.directory)
        let probe = "storeledger-probe"
        // Each of the rights that publications need.
        try bucket.abort(try bucket.beginUpload(probe))
        _ = try bucket.uploads(of: probe)
        try bucket.remove(probe)
        _ = try bucket.names(of: probe)
        _ = try bucket.contents(of: probe)
    }
}

/// Checks that files could be published into a directory.
///
/// Nothing is created that stays. A missing directory passes if its nearest parent that exists can be written.
///
/// - Parameter path: Absolute.
/// - Throws: ``LedgerError/cannotCreate(path:reason:)``.
package func checkOutputDirectory(_ path: String) throws(LedgerError) {
    var status = stat()
    if unsafe stat(path, &status) == 0 {
        do throws(LedgerError) {
            _ = try OutputFolder(path: path).newFile("doctor")
        } catch .directoryInUse {
            // A run is publishing there at this moment.
        }
        return
    }
    var parent = path[...]
    repeat {
        parent = parent[..<(parent.lastIndex(of: "/") ?? parent.startIndex)]
        let folder = parent.isEmpty ? "/" : String(parent)
        guard unsafe stat(folder, &status) == 0 || parent.isEmpty else { continue }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw .cannotCreate(path: path, reason: "\(folder) is not a directory")
        }
        guard unsafe faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0 else {
            throw .cannotCreate(path: path, reason: "\(folder): \(systemErrorText(errno))")
        }
        return
    } while true
}
