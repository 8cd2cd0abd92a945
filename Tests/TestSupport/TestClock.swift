package import FoundationEssentials

/// The clock that `scripts/test --date` has set for the tests, with Tests/Shims/clock.c.
///
/// Programs that the tests start have the same clock.
package enum TestClock {
    private static let variables = ProcessInfo.processInfo.environment.filter {
        ["LD_PRELOAD", "CLOCK_FILE"].contains($0.key)
    }

    /// The variables of a program that has this clock; empty if no other date is set.
    package static let environment = variables["CLOCK_FILE"] == nil ? [:] : variables

    /// How far the clock of the tests is ahead of the machine's, in seconds.
    private static let offset =
        environment["CLOCK_FILE"].flatMap { try? String(contentsOfFile: $0, encoding: .utf8) }.flatMap {
            Int($0.dropLast())
        } ?? 0

    /// What the file of a program's clock says if that clock is `seconds` ahead of the clock of the tests.
    package static func file(ahead seconds: Int) -> Data { Data("\(offset + seconds)\n".utf8) }
}
