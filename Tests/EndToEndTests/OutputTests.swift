import FoundationEssentials
import TestSupport
import Testing

/// What the commands say on stdout.
@Suite(.temporaryDatabase)
struct OutputTests {
    @Test func `the version is one line`() async throws {
        try await withChildProcess(Executables.storeledger, ["--version"], environment: [:]) { process in
            #expect(await process.wait() == 0)
            #expect(process.output.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
            #expect(process.errors == "")
        }
    }

    @Test func `plan counts IDs, requests and hours, and sends nothing`() async throws {
        struct Plan: Decodable {
            struct Stream: Decodable {
                let stream: String
                let items, requestsAtLeast: Int
                let secondsAtAppleLimit, secondsAtShare: Double
            }
            let job: String
            let transactionIds, duplicates: Int
            let share, secondsAtShare: Double
            let streams: [Stream]
        }
        try await Stage.with(.init(customers: 20)) { stage in
            let ids = try String(contentsOfFile: stage.store.directory + "/ids.csv", encoding: .utf8)
            let twice = try #require(ids.split(separator: "\n").last)
            try stage.write(ids + "\(twice)\n\(twice)\n", to: "ids.csv")
            var job = stage.job
            job.limits = "{share: 0.5}"
            let path = try stage.write(job)

            let outcome = try await stage.storeledger("plan", path, "--json")

            #expect(outcome.code == 0 && outcome.errorLines == [])
            let plan = try JSONDecoder().decode(Plan.self, from: Data(outcome.output.utf8))
            #expect(plan.job == "nightly" && plan.transactionIds == 20 && plan.duplicates == 2 && plan.share == 0.5)
            let streams = Dictionary(uniqueKeysWithValues: plan.streams.map { ($0.stream, $0) })
            let refunds = try #require(streams["refundHistory"])
            #expect(refunds.items == 20 && refunds.requestsAtLeast == 20)
            #expect(refunds.secondsAtAppleLimit == 2 && refunds.secondsAtShare == 4)
            #expect(streams["transactionHistory"]?.items == 20)
            // Two days that begin at no midnight touch three.
            #expect(streams["notificationHistory"]?.items == 3)
            #expect(try await stage.store.requests().total == 0)
            let words = try await stage.storeledger("plan", path)
            #expect(words.output.hasPrefix("nightly: 20 transaction IDs (2 duplicates dropped)\n"))
        }
    }

    @Test func `a plan for the statuses of 100,000 customers says 34 minutes at full share, and names each endpoint`()
        async throws
    {
        try await Stage.with(.init(customers: 1)) { stage in
            let ids = (0..<100_000).map { "\(430_000_000_000_000 + $0)\n" }.joined()
            try stage.write("transaction_id\n" + ids, to: "many.csv")
            var job = stage.job
            job.transactionIds = "csv: {path: many.csv, column: transaction_id}"
            job.streams = ["subscriptionStatuses: {}"]
            job.limits = "{share: 1}"
            let plan = try await stage.storeledger("plan", try stage.write(job))
            #expect(
                plan.output == """
                    nightly: 100000 transaction IDs (0 duplicates dropped)
                      subscriptionStatuses: 100000 items, at least 100000 requests, 34 min at Apple's limit, \
                    34 min at the job's share
                      together: at least 34 min at Apple's limit, 34 min at the job's share of 100%

                    """
            )

            job.streams = ["subscriptionStatuses: {}", "appTransaction: {}", "refundHistory: {}"]
            job.limits = "{share: 0.5}"
            let three = try await stage.storeledger("plan", try stage.write(job))
            for (stream, atLimit, atShare) in [
                ("subscriptionStatuses", "34 min", "1 h 7 min"), ("appTransaction", "34 min", "1 h 7 min"),
                ("refundHistory", "2 h 47 min", "5 h 34 min"),
            ] {
                let line = "\(stream): 100000 items, at least 100000 requests, \(atLimit) at Apple's limit, \(atShare)"
                #expect(three.output.contains("\(line) at the job's share"), "\(three.output)")
            }
            #expect(three.output.contains("together: at least 2 h 47 min at Apple's limit, 5 h 34 min at"))
            #expect(try await stage.store.requests().total == 0)
        }
    }

    @Test func `status, coverage, validate and doctor show the state of a job`() async throws {
        struct Status: Decodable {
            struct Run: Decodable {
                let run, exitCode, pages, requests, rowsNew, itemsFailed: Int
                let finishedAt: String
            }
            struct Items: Decodable {
                let stream: String
                let done, waiting, leased, failed: Int
            }
            struct Budget: Decodable {
                let endpoint: String
                let lastHour: Int
            }
            let app, environment, job: String
            let runs: [Run]
            let items: [Items]
            let budget: [Budget]
        }
        struct Coverage: Decodable {
            let stream, item, state, completeUntil: String
            let gaps: [String]
        }
        try await Stage.with { stage in
            let path = try await stage.migrated(stage.job)
            let never = try await stage.storeledger("status", path)
            #expect(never.code == 0 && never.output == "nightly has never run\n")
            #expect(try await stage.storeledger("status", path, "--json").output == "null\n")
            let doctor = try await stage.storeledger("doctor", path)
            #expect(doctor.code == 0 && doctor.errorLines == [])
            let checks = doctor.output.split(separator: "\n")
            #expect(checks.count == 13 && checks.allSatisfy { $0.hasPrefix("ok ") }, "\(doctor.output)")
            #expect(try await stage.store.requests().total == 1)
            let valid = try await stage.storeledger("validate", path)
            #expect(
                valid.code == 0 && valid.output.contains("job \"nightly\" of com.example.game (Production) is valid")
            )

            let run = try await stage.run(path)

            let requests = try await stage.store.requests().total
            let outcome = try await stage.storeledger("status", path, "--json")
            #expect(outcome.code == 0 && outcome.errorLines == [])
            let status = try JSONDecoder().decode(Status.self, from: Data(outcome.output.utf8))
            #expect(status.app == "com.example.game" && status.environment == "Production" && status.job == "nightly")
            let last = try #require(status.runs.first)
            #expect(status.runs.count == 1 && last.exitCode == 0 && last.itemsFailed == 0)
            #expect(last.requests == requests - 1 && last.pages == requests - 1)
            #expect(run.output.contains("requests           \(requests - 1)\n"))
            #expect(run.output.contains("rows               \(last.rowsNew) new"))
            #expect(status.items.allSatisfy { $0.waiting == 0 && $0.leased == 0 && $0.failed == 0 })
            #expect(status.items.first { $0.stream == "refundHistory" }?.done == 12)
            // What was granted may be more than what was sent, never less.
            #expect(status.budget.reduce(0) { $0 + $1.lastHour } >= requests - 1)

            let lines = try await stage.storeledger("coverage", path, "--all", "--json").output.split(separator: "\n")
            let coverage = try lines.map { try JSONDecoder().decode(Coverage.self, from: Data($0.utf8)) }
            #expect(coverage.count == status.items.reduce(0) { $0 + $1.done })
            #expect(coverage.allSatisfy { $0.state == "done" && $0.gaps.isEmpty && $0.completeUntil.hasSuffix("Z") })
        }
    }

    @Test func `status without a job file shows every job of the ledger`() async throws {
        struct Status: Decodable {
            let app, job: String
        }
        try await Stage.with(.init(customers: 2)) { stage in
            var job = stage.job
            try await stage.run(try await stage.migrated(job))
            job.name = "another"
            try await stage.run(try stage.write(job))

            let outcome = try await stage.storeledger("status", "--json")
            #expect(outcome.code == 0 && outcome.errorLines == [], "\(outcome.errors)")
            let statuses = try JSONDecoder().decode([Status].self, from: Data(outcome.output.utf8))
            #expect(statuses.map(\.job) == ["another", "nightly"])
            #expect(statuses.allSatisfy { $0.app == "com.example.game" })
            let text = try await stage.storeledger("status").output
            for name in ["another", "nightly"] { #expect(text.contains("\(name): com.example.game (Production)\n")) }

            #expect(try await stage.storeledger("status", "--schema", "elsewhere").code == 78)
            let wrong: [([String], [String: String])] = [
                (["status"], ["DATABASE_URL": ""]), (["status", "--schema", "a\"b"], [:]),
                (["status", "nightly.yaml", "--schema", "appstore"], [:]),
            ]
            for (arguments, environment) in wrong {
                let (code, errors) = try await stage.withStoreledger(arguments, environment: environment) {
                    (await $0.wait(), $0.errors)
                }
                #expect(code == 64, "\(arguments): \(errors)")
                #expect(errors.hasPrefix("Error: "), "\(errors)")
            }
        }
    }

    /// Runs a command whose output goes to a pipe that no process reads, as after `head` has ended.
    ///
    /// `words` are the arguments, with `"$1"` for the job file, and redirections to the pipe: `>&4`.
    private static func withClosedPipe(_ words: String, _ job: String, _ stage: Stage) async throws -> Stage.Outcome {
        let script = "cd \"${1%/*}\" && mkfifo pipe.$$ && exec 3<>pipe.$$ 4>pipe.$$ 3<&- && exec \"$0\" \(words)"
        return try await withChildProcess(
            "/bin/sh",
            ["-c", script, Executables.storeledger, job],
            environment: ["DATABASE_URL": stage.databaseURL(), "PATH": "/usr/bin:/bin"]
        ) { process in
            let code = await process.wait()
            return Stage.Outcome(code: code, output: process.output, errors: process.errors)
        }
    }

    @Test func `a reader that closes the pipe ends a command without a message, and loses no work`() async throws {
        try await Stage.with(.init(customers: 3)) { stage in
            let path = try await stage.migrated(stage.job)
            let run = try await Self.withClosedPipe("run \"$1\" --progress json >&4 2>&4", path, stage)
            #expect(run.code == 0)
            expectNone(try await stage.book().differences(from: stage.store.world()))
            for words in [
                "validate \"$1\"", "plan \"$1\"", "status \"$1\"", "status", "status \"$1\" --watch", "dictionary",
                "coverage \"$1\"", "coverage \"$1\" --all --json", "report \"$1\" --output -",
            ] {
                let outcome = try await Self.withClosedPipe("\(words) >&4", path, stage)
                #expect(outcome.code == 0 && outcome.errorLines == [], "\(words): \(outcome)")
            }
        }
    }

    @Test(arguments: ["exec \"$0\" validate \"$1\" >/dev/full", "exec \"$0\" validate \"$1\" >&-"])
    func `a result that stdout does not take is 74`(script: String) async throws {
        try await Stage.with(.init(customers: 1)) { stage in
            let path = try stage.write(stage.job)
            let database = stage.databaseURL()
            try await withChildProcess(
                "/bin/sh",
                ["-c", "cd \"${1%/*}\" && \(script)", Executables.storeledger, path],
                environment: ["DATABASE_URL": database, "PATH": "/usr/bin:/bin"]
            ) { process in
                #expect(await process.wait() == 74, "\(process.errors)")
                #expect(
                    Stage.lines(of: process.errors).first?
                        .hasPrefix("storeledger: the result cannot be written to stdout: ") == true
                )
                #expect(Stage.lines(of: process.errors).count == 1)
            }
        }
    }

    @Test func `progress as JSON is lines of JSON on stderr`() async throws {
        try await Stage.with { stage in
            let path = try await stage.migrated(stage.job)
            let outcome = try await stage.storeledger("run", path, "--progress", "json")
            #expect(outcome.code == 0)
            struct Line: Decodable { let event: String }
            #expect(outcome.errorLines.count >= 1)
            for line in outcome.errorLines {
                #expect(throws: Never.self) { try JSONDecoder().decode(Line.self, from: Data(line.utf8)) }
            }
        }
    }

    @Test func `replay of the archive finds nothing to change, and export writes the same files`() async throws {
        try await Stage.with { stage in
            var job = stage.job
            job.csv = "{directory: out, tables: [transactions, notifications]}"
            let path = try await stage.migrated(job)
            try await stage.run(path)
            let book = try stage.book()
            // For a snapshot that is read again, its dependent rows are rewritten.
            let children = ["advanced_commerce_items", "advanced_commerce_refunds"]
            let tables = LedgerBook.dataTables.filter { !children.contains($0) }
            let versions = try await book.versions(of: tables)
            let items = try await book.rows(of: children[0])
            let file = stage.store.directory + "/out/transactions.csv"
            let published = try Data(contentsOf: URL(filePath: file))
            let asked = try await stage.store.requests().total

            let replay = try await stage.storeledger("replay", path)
            let export = try await stage.storeledger("export", path)

            #expect(
                replay.code == 0 && replay.output.contains(" 0 new, 0 updated, "),
                "\(replay.output)\(replay.errors)"
            )
            #expect(export.code == 0 && export.output.hasPrefix("transactions.csv: "), "\(export.errors)")
            expectSame(try await book.versions(of: tables).sorted(), versions.sorted())
            expectSame(try await book.rows(of: children[0]), items)
            #expect(try Data(contentsOf: URL(filePath: file)) == published)
            #expect(try await stage.store.requests().total == asked)
        }
    }
}
