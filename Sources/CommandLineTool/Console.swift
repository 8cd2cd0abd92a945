import Glibc
import Pipeline
import Synchronization

/// Writes results to stdout and everything else to stderr.
enum Console {
    private static let firstFailure = Mutex<Int32?>(nil)

    /// The errno of the first failed write to stdout; `nil` if the result is complete.
    static var failure: Int32? { firstFailure.withLock(\.self) }

    /// Writes a line of the result; after a failure, writes nothing more.
    static func result(_ line: String) {
        firstFailure.withLock { failure in
            if failure == nil { failure = write(line + "\n", to: STDOUT_FILENO) }
        }
    }

    /// Writes a line to stderr.
    static func message(_ line: String) {
        raw(line + "\n")
    }

    /// Writes text to stderr and adds no line end; secrets in it are replaced.
    static func raw(_ text: String) {
        // A failure to write to stderr cannot be reported.
        _ = write(redacted(text), to: STDERR_FILENO)
    }

    /// Whether stderr is a terminal.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// - Returns: The errno of a failure; `nil` if the whole text was written.
    private static func write(_ text: String, to descriptor: Int32) -> Int32? {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return count < 0 ? errno : EIO }
            bytes = bytes.dropFirst(count)
        }
        return nil
    }
}
