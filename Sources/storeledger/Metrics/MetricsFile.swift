import Glibc
import Ledger

/// Writes the file for the textfile collector of Prometheus's node_exporter.
///
/// The collector can read the file at any moment as another user, so the file is always complete and world-readable.
enum MetricsFile {
    /// Writes a temporary file and renames it; its name does not end in `.prom`, so that it is not collected.
    ///
    /// - Throws: ``Ledger/LedgerError/cannotCreate(path:reason:)``, ``Ledger/LedgerError/cannotWrite(path:reason:)``.
    ///   The
    ///   existing file is then unchanged.
    static func write(_ text: String, to path: String) throws(LedgerError) {
        let draft = "\(path).\(getpid())"
        // A killed process with the same ID may have left one.
        unsafe unlink(draft)
        let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .cannotCreate(path: path, reason: lastError) }
        defer {
            close(descriptor)
            // After the rename it does not exist.
            unsafe unlink(draft)
        }
        // Readable with any umask; the file contains no secrets.
        guard fchmod(descriptor, 0o644) == 0 else { throw .cannotWrite(path: path, reason: lastError) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw .cannotWrite(path: path, reason: lastError) }
            rest = rest.dropFirst(written)
        }
        guard unsafe rename(draft, path) == 0 else { throw .cannotWrite(path: path, reason: lastError) }
    }

    private static var lastError: String { unsafe String(cString: strerror(errno)) }
}
