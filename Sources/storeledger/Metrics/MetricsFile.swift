import Glibc
import Ledger
import Workers

/// The textfile of Prometheus's node_exporter: read at any moment and by somebody else, so it is always whole and readable.
enum MetricsFile {
    /// Writes a draft beside the file and renames it; its name does not end in `.prom`, so that nobody collects it.
    ///
    /// - Throws: ``Ledger/LedgerError/cannotCreate(path:reason:)``, ``Ledger/LedgerError/cannotWrite(path:reason:)``; the
    ///   file that was there is then as it was.
    static func write(_ text: String, to path: String) throws(LedgerError) {
        let draft = "\(path).\(getpid())"
        // What a killed process of the same number left.
        unsafe unlink(draft)
        let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .cannotCreate(path: path, reason: lastError) }
        defer {
            close(descriptor)
            // Once it is renamed there is none.
            unsafe unlink(draft)
        }
        // Whatever the umask is: there is nothing secret in it.
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

    private static var lastError: String { systemErrorText(errno) }
}
