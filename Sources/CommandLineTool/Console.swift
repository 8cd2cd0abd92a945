import Pipeline
import Platform
import Synchronization

/// Writes results to stdout and everything else to stderr.
enum Console {
    private static let firstFailure = Mutex<Int32?>(nil)

    /// The errno of the first failed write to stdout; `nil` if there was none, or if the reader closed the pipe.
    ///
    /// A reader such as `head` that closes the pipe has what it needs, so this is not a failure.
    static var failure: Int32? { firstFailure.withLock { $0 == EPIPE ? nil : $0 } }

    /// Whether stdout takes no more output, so that a command need not produce more.
    static var isClosed: Bool { firstFailure.withLock { $0 != nil } }

    /// Writes a line of the result; after a failure, writes nothing more.
    static func result(_ line: String) {
        result(Array((line + "\n").utf8))
    }

    /// Writes bytes of the result as they are; after a failure, writes nothing more.
    static func result(_ bytes: [UInt8]) {
        firstFailure.withLock { failure in
            if failure == nil { failure = write(bytes, to: STDOUT_FILENO) }
        }
    }

    /// Writes a line to stderr.
    static func message(_ line: String) {
        raw(line + "\n")
    }

    /// Writes text to stderr and adds no line end; secrets in it are replaced.
    static func raw(_ text: String) {
        // A failure to write to stderr cannot be reported.
        _ = write(Array(redacted(text).utf8), to: STDERR_FILENO)
    }

    /// Whether stderr is a terminal.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// - Returns: The errno of a failure; `nil` if all bytes were written.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        var bytes = bytes[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { unsafe Platform.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return count < 0 ? errno : EIO }
            bytes = bytes.dropFirst(count)
        }
        return nil
    }
}
