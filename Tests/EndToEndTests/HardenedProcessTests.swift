import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// T16: what another program of the same user, or a crash, finds out about a running storeledger.
struct HardenedProcessTests {
    @Test(.enabled("an ordinary user must be able to start storeledger where it lies") { try await Self.mayBeRun })
    func `the same user cannot read its memory, and a crash leaves neither core nor registers`() async throws {
        let listener = try LoopbackListener()
        let environment = [
            "DATABASE_URL": "postgresql://loader:planted-pass-word@127.0.0.1:\(listener.port)/ledger",
            "SWIFT_BACKTRACE": "enable=yes,color=no",
        ]
        let (program, arguments) = Self.asOrdinaryUser(Executables.storeledger, ["status"])
        try await withChildProcess(program, arguments, environment: environment) { process in
            // A stopped process does not give up while a busy machine runs the checks.
            listener.signal(process, SIGSTOP)
            try await poll { process.isStopped }
            let own = "/proc/\(process.processID)"
            for secret in ["environ", "mem", "maps"] {
                #expect(try await Self.canRead("\(own)/\(secret)") == false, "\(secret)")
            }
            let limits = try String(contentsOfFile: own + "/limits", encoding: .utf8)
            #expect(limits.contains(/Max core file size +0 +0/))
            process.signal(SIGSEGV)
            try await process.resume()
            #expect(await process.wait() == 128 + SIGSEGV)
            let lines = ChildProcess.lines(of: process.errors).filter { !$0.contains("waiting for PostgreSQL: ") }
            #expect(lines == [] && process.output == "", "\(process.errors)")
        }
        // The very same question about a program that does nothing for itself.
        let (sleeper, words) = Self.asOrdinaryUser("/bin/sleep", ["60"])
        try await withChildProcess(sleeper, words, environment: environment) { process in
            let own = "/proc/\(process.processID)/"
            while try String(contentsOfFile: own + "comm", encoding: .utf8) != "sleep\n" {
                try await Task.sleep(for: .milliseconds(2))
            }
            #expect(try await Self.canRead(own + "environ"))
        }
    }

    /// Root may read everything, so a test as root runs as another user.
    private static func asOrdinaryUser(_ program: String, _ arguments: [String]) -> (String, [String]) {
        guard geteuid() == 0 else { return (program, arguments) }
        return ("/usr/bin/setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", program] + arguments)
    }

    private static func canRead(_ path: String) async throws -> Bool {
        let (program, arguments) = asOrdinaryUser("/usr/bin/head", ["-c", "1", path])
        return try await withChildProcess(program, arguments, environment: [:]) { await $0.wait() == 0 }
    }

    private static var mayBeRun: Bool {
        get async throws {
            let (program, arguments) = asOrdinaryUser(Executables.storeledger, ["--version"])
            return try await withChildProcess(program, arguments, environment: [:]) { await $0.wait() == 0 }
        }
    }
}
