import FoundationEssentials
import Platform

/// What the terminal behind a file descriptor can show.
enum Terminal {
    /// Whether it is a terminal that understands escape codes, to replace a line or clear the screen.
    static func isCapable(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1 && isCapable(named: ProcessInfo.processInfo.environment["TERM"])
    }

    /// Whether a terminal understands escape codes if `TERM` is `name`.
    static func isCapable(named name: String?) -> Bool {
        !["", "dumb"].contains(name ?? "")
    }

    /// The width of the terminal on stderr: the kernel's, `COLUMNS` without one, or 80.
    static var columns: Int {
        var size = winsize()
        if unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
        return ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } ?? 80
    }
}
