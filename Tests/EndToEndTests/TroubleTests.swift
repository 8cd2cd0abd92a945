import FoundationEssentials
import TestSupport
import Testing

/// What a run says while something slows it down, and what a terminal shows.
@Suite(.migratedDatabase)
struct TroubleTests {
    @Test(arguments: [["--progress", "none"], ["--log-format", "json"], ["--progress", "json"], []])
    func `repeated requests, 429 and rejected records are reported when they happen, one line for each kind`(
        options: [String]
    ) async throws {
        let faults = """
            {"rules": [
              {"endpoint": "transactionHistory", "everyNth": 3, "times": 4, "fault": "status", "status": 500,
               "errorCode": 5000001, "errorMessage": "Try again."},
              {"endpoint": "notificationHistory", "atRequest": 1, "fault": "rateLimited", "retryAfter": ["1"]},
              {"endpoint": "transactionHistory", "everyNth": 2, "times": 2, "fault": "forgeSignature"}
            ]}
            """
        try await Stage.with(.init(customers: 12, faults: faults)) { stage in
            let path = try await stage.migrated(stage.job)
            let run = try await stage.withStoreledger(["run", path] + options) { process in
                let code = await process.wait()
                return Stage.Outcome(code: code, output: process.output, errors: process.errors)
            }
            #expect([2, 76].contains(run.code), "\(run)")
            for words in [
                "a request of transactionHistory failed and is repeated: HTTP 500, Apple's code 5000001: ",
                "Apple's limit of notificationHistory is reached; waiting until ",
                " of transactionHistory rejected: ",
            ] {
                let lines = run.errorLines.filter { $0.contains(words) }
                #expect(lines.count == 1, "\(words): \(run.errors)")
                #expect(lines.allSatisfy { $0.hasPrefix("{") == options.contains("json") })
            }
        }
    }

    @Test(arguments: ["run", "status"])
    func `a command that waits for PostgreSQL says so`(command: String) async throws {
        try await Stage.with(.init(customers: 1)) { stage in
            let path = try stage.write(stage.job)
            let nowhere = "postgresql:///ledger?host=\(stage.directory)"
            let environment = ["DATABASE_URL": nowhere, "STORELEDGER_DATABASE_DEADLINE": "10"]
            let outcome = try await stage.withStoreledger([command, path], environment: environment) { process in
                let code = await process.wait()
                return Stage.Outcome(code: code, output: process.output, errors: process.errors)
            }
            #expect(outcome.code == 69)
            let lines = outcome.errors.split(separator: "\n").filter { !$0.hasPrefix("Rehearsal: ") }
            #expect(lines.count == 2 && lines.allSatisfy { !$0.contains("\\") }, "\(outcome.errors)")
            #expect(lines.first?.contains("waiting for PostgreSQL: connection to server on socket") == true)
            #expect(lines.last?.hasPrefix("storeledger: PostgreSQL cannot be reached: ") == true, "\(outcome.errors)")
        }
    }

    private static let script = "/usr/bin/script"

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: script), "script of bsdutils is not installed"),
        arguments: [("xterm", true), ("dumb", false), ("", false)]
    )
    func `on a terminal of 40 columns the bar fits, and without escape codes there is none`(
        terminal: String,
        isCapable: Bool
    ) async throws {
        try await Stage.with(.init(customers: 30)) { stage in
            var job = stage.job
            job.limits = """
                {concurrency: 8, share: 1,
                   requestsPerSecond: {transactionHistory: 3, refundHistory: 3, notificationHistory: 3}}
                """
            let path = try await stage.migrated(job)
            let command = "stty cols 40; \(Executables.storeledger) run \(path) --max-duration 2s"
            try await withChildProcess(
                Self.script,
                ["-qec", command, "/dev/null"],
                environment: ["PATH": "/usr/bin:/bin", "TERM": terminal, "DATABASE_URL": stage.databaseURL()]
            ) { process in
                #expect(await process.wait() == 75, "\(process.output)")
                let output = process.output
                #expect(output.contains("items left; storeledger run \(path) continues"), "\(output)")
                #expect(output.contains("\u{1B}") == isCapable, "\(output)")
                let frames = output.split(separator: "\r\u{1B}[K").filter { $0.contains("░") || $0.contains("█") }
                #expect(frames.isEmpty != isCapable, "\(output)")
                for frame in frames { #expect((frame.split(separator: "\r\n").first ?? "").count < 40, "\(frame)") }
            }
        }
    }
}
