import FoundationEssentials
import TestSupport

/// What OpenSSL's own benchmark says, measured in the same run.
struct OpenSSLSpeed {
    /// P-256 verifications per second of processor time.
    let perCPUSecond: Double
    /// P-256 signatures per second of processor time.
    let signaturesPerCPUSecond: Double
    /// P-256 verifications per second on the wall, of one process and of as many at once as there are threads; `nil` where one thread is all.
    let onTheWall: (one: Double, together: Double)?

    /// `nil` where there is no `openssl` to ask.
    static func measure(threads: Int) async -> Self? {
        guard let alone = await rates([]) else {
            Say.line("ledger-bench: openssl speed cannot be run; its reference is left out")
            return nil
        }
        guard threads > 1,
            let one = await rates(["-elapsed"])?.verifications,
            let together = await rates(["-elapsed", "-multi", "\(threads)"])?.verifications
        else {
            return Self(perCPUSecond: alone.verifications, signaturesPerCPUSecond: alone.signatures, onTheWall: nil)
        }
        return Self(
            perCPUSecond: alone.verifications,
            signaturesPerCPUSecond: alone.signatures,
            onTheWall: (one, together)
        )
    }

    /// What `openssl speed` with these options says, per second.
    private static func rates(_ options: [String]) async -> (signatures: Double, verifications: Double)? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let arguments = ["openssl", "speed", "-mr", "-seconds", "1"] + options + ["ecdsap256"]
        guard let child = try? ChildProcess("/usr/bin/env", arguments, environment: ["PATH": path]),
            await child.wait() == 0,
            // As in "+F4:3:256:64628.571429:19422.222222": signatures, then verifications; of all processes the last.
            let line = child.output.split(separator: "\n").last(where: { $0.hasPrefix("+F4:") })
        else { return nil }
        let numbers = line.split(separator: ":").suffix(2).compactMap { Double($0) }
        return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
    }
}
