import FoundationEssentials
import TestSupport

/// What OpenSSL's own benchmark says, measured in the same run.
enum OpenSSLSpeed {
    /// P-256 verifications per second of processor time; `nil` where there is no `openssl` to ask.
    static func verificationsPerSecond() async -> Double? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let arguments = ["openssl", "speed", "-mr", "-seconds", "1", "ecdsap256"]
        guard let child = try? ChildProcess("/usr/bin/env", arguments, environment: ["PATH": path]),
            await child.wait() == 0,
            // As in "+F4:3:256:64628.571429:19422.222222": signatures, then verifications.
            let line = child.output.split(separator: "\n").last(where: { $0.hasPrefix("+F4:") }),
            let rate = line.split(separator: ":").last.flatMap({ Double($0) })
        else {
            Say.line("ledger-bench: openssl speed cannot be run; its reference is left out")
            return nil
        }
        return rate
    }
}
