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

    /// The clock file of a program whose clock is `seconds` ahead of the clock of the tests.
    ///
    /// - Throws: An error if the file of the tests' own clock cannot be read.
    package static func file(ahead seconds: Int) throws -> Data {
        var ahead = seconds
        if let file = environment["CLOCK_FILE"] {
            ahead += try JSONDecoder().decode(Int.self, from: Data(contentsOf: URL(filePath: file)))
        }
        return Data("\(ahead)\n".utf8)
    }
}
