import ExportPipeline
import Glibc
import Synchronization

/// File descriptors 1 and 2: the result goes to stdout, everything else to stderr.
enum Console {
    private static let firstFailure = Mutex<Int32?>(nil)

    /// Why the result is incomplete: the error number of the first line that stdout did not take.
    static var failure: Int32? { firstFailure.withLock(\.self) }

    /// A line of the result; after a failure nothing more is written.
    static func result(_ line: String) {
        firstFailure.withLock { failure in
            if failure == nil { failure = write(line + "\n", to: STDOUT_FILENO) }
        }
    }

    /// A line for whoever watches.
    static func message(_ line: String) {
        raw(line + "\n")
    }

    /// Text for whoever watches, without secrets.
    static func raw(_ text: String) {
        // Where stderr cannot be written to, there is nowhere to say so.
        _ = write(redacted(text), to: STDERR_FILENO)
    }

    /// Whether somebody watches stderr on a terminal.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// - Returns: The error number that ended it; `nil` when all of the text is written.
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
