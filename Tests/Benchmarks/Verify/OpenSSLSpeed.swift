import FoundationEssentials
import TestSupport

/// What OpenSSL's own benchmark says, measured in the same run.
struct OpenSSLSpeed {
    /// P-256 verifications per second of processor time.
    let perCPUSecond: Double
    /// The same on the wall, of one process and of as many at once as there are threads; `nil` where one thread is all.
    let onTheWall: (one: Double, together: Double)?

    /// `nil` where there is no `openssl` to ask.
    static func measure(threads: Int) async -> Self? {
        guard let alone = await verificationsPerSecond([]) else {
            Say.line("ledger-bench: openssl speed cannot be run; its reference is left out")
            return nil
        }
        guard threads > 1,
            let one = await verificationsPerSecond(["-elapsed"]),
            let together = await verificationsPerSecond(["-elapsed", "-multi", "\(threads)"])
        else { return Self(perCPUSecond: alone, onTheWall: nil) }
        return Self(perCPUSecond: alone, onTheWall: (one, together))
    }

    private static func verificationsPerSecond(_ options: [String]) async -> Double? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let arguments = ["openssl", "speed", "-mr", "-seconds", "1"] + options + ["ecdsap256"]
        guard let child = try? ChildProcess("/usr/bin/env", arguments, environment: ["PATH": path]),
            await child.wait() == 0,
            // As in "+F4:3:256:64628.571429:19422.222222": signatures, then verifications; of all processes the last.
            let line = child.output.split(separator: "\n").last(where: { $0.hasPrefix("+F4:") })
        else { return nil }
        return line.split(separator: ":").last.flatMap { Double($0) }
    }
}
