import Basics
import Glibc
package import Ledger

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
            _ = try OutputDirectory(path: path).newFile("doctor")
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
