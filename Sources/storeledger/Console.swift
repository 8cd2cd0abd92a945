import Glibc

/// File descriptors 1 and 2: the result goes to stdout, everything else to stderr.
enum Console {
    /// A line of the result.
    static func result(_ line: String) {
        write(line + "\n", to: STDOUT_FILENO)
    }

    /// A line for whoever watches.
    static func message(_ line: String) {
        write(line + "\n", to: STDERR_FILENO)
    }

    /// Text for whoever watches, as it is.
    static func raw(_ text: String) {
        write(text, to: STDERR_FILENO)
    }

    /// Whether somebody watches stderr on a terminal.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    private static func write(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            // Nobody reads any more; there is nowhere to say so.
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
