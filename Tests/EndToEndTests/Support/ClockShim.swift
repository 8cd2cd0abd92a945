import FoundationEssentials
import TestSupport

/// The library of Tests/Shims/clock.c, which a program is started with to have its wall clock set while it runs.
///
/// libfaketime shifts timers too: a program whose clock is set back then waits for minutes.
enum ClockShim {
    static let library = Task<String?, Never> { await Shim.compile("clock") }

    /// The environment of a program whose clock is off by the seconds that `file` says.
    static func environment(reading file: String) async -> [String: String] {
        ["LD_PRELOAD": await library.value ?? "", "CLOCK_FILE": file]
    }

    /// Sets the clock of the programs that read `file` to an offset in seconds from the clock of the tests.
    static func set(_ file: String, by seconds: Int) throws {
        try TestClock.file(ahead: seconds).write(to: URL(filePath: file), options: .atomic)
    }
}
