import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

/// How the end of a run is reported: metrics after every exit, and the job's webhook.
@Suite(.migratedDatabase)
struct AlertingTests {
    /// One end of a run.
    struct Ending: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let code: Int32
        /// Whether the job file was read, so that the job's name is known.
        var namesJob = true
        /// Whether the ledger was read and knows the job.
        var hasLedger = false
        var options: [String] = []
        var environment: [String: String] = [:]
        var database: (@Sendable (Stage) -> String)?
        var change: @Sendable (inout JobText, Stage) async throws -> Void = { _, _ in }
    }

    private static let endings = [
        Ending(testDescription: "complete", code: 0, hasLedger: true),
        Ending(
            testDescription: "an unknown ID",
            code: 2,
            hasLedger: true,
            change: { job, stage in try Self.listUnknownID(&job, stage) }
        ),
        Ending(testDescription: "an unknown option", code: 64, namesJob: false, options: ["--fast"]),
        Ending(
            testDescription: "a bad variable",
            code: 64,
            namesJob: false,
            environment: ["STORELEDGER_DATABASE_DEADLINE": "soon"]
        ),
        Ending(
            testDescription: "a bad job file",
            code: 65,
            namesJob: false,
            change: { job, _ in job.streams.append("colour: {}") }
        ),
        Ending(
            testDescription: "no ID list",
            code: 66,
            change: { job, _ in job.transactionIds = "csv: {path: missing.csv}" }
        ),
        Ending(
            testDescription: "no server",
            code: 69,
            environment: [
                "DATABASE_URL": "postgresql://ledger@127.0.0.1:1/ledger", "STORELEDGER_DATABASE_DEADLINE": "1",
            ]
        ),
        Ending(
            testDescription: "work left",
            code: 75,
            hasLedger: true,
            options: ["--max-duration", "1s"],
            change: { job, _ in job.limits = Self.slow }
        ),
        Ending(testDescription: "no role", code: 77, database: { $0.databaseURL(role: "unknown_role") }),
        Ending(testDescription: "no database", code: 78, database: { $0.databaseURL(database: "nowhere") }),
    ]

    private static let slow =
        "{concurrency: 2, share: 1, requestsPerSecond: {transactionHistory: 1, refundHistory: 1, notificationHistory: 1}}"

    private static let unknownID = "999999999999"

    private static func listUnknownID(_ job: inout JobText, _ stage: Stage) throws {
        let list = try String(contentsOfFile: stage.store.directory + "/ids.csv", encoding: .utf8)
        try stage.write("\(list)\(unknownID)\n", to: "more.csv")
        job.transactionIds = "csv: {path: more.csv, column: transaction_id}"
        job.streams = ["transactionHistory: {}"]
    }

    @Test(arguments: endings)
    func `the metrics of a run have its exit code, even if nothing else can be read`(ending: Ending) async throws {
        try await Stage.with(.init(customers: 3)) { stage in
            var job = stage.job
            try await ending.change(&job, stage)
            let path = try stage.write(job)
            let file = stage.directory + "/storeledger.prom"
            var environment = ending.environment
            if let database = ending.database { environment["DATABASE_URL"] = database(stage) }
            // The file of an earlier run is replaced.
            try Data("storeledger_last_exit_code 0\n".utf8).write(to: URL(filePath: file))

            let code = try await stage.withStoreledger(
                ["run", path, "--metrics-file", file] + ending.options,
                environment: environment
            ) { await $0.wait() }

            #expect(code == ending.code)
            let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
            let names = #",app="com.example.game",environment="Production",job_name="nightly""#
            let labels = "{job_file=\"\(path)\"\(ending.namesJob ? names : "")}"
            #expect(lines.contains("storeledger_last_exit_code\(labels) \(ending.code)"), "\(lines)")
            #expect(lines.contains { $0.hasPrefix("storeledger_last_exit_timestamp_seconds\(labels) ") }, "\(lines)")
            #expect(lines.contains { $0.hasPrefix("storeledger_written_timestamp_seconds{") } == ending.hasLedger)
        }
    }

    @Test func `a job file that is not there is in the metrics by its path`() async throws {
        try await Stage.with(.init(customers: 1)) { stage in
            let file = stage.directory + "/storeledger.prom"
            for command in ["run", "retry"] {
                let outcome = try await stage.storeledger(command, "/nowhere/job.yaml", "--metrics-file=\(file)")
                #expect(outcome.code == 66)
                let text = try String(contentsOfFile: file, encoding: .utf8)
                #expect(text.contains("storeledger_last_exit_code{job_file=\"/nowhere/job.yaml\"} 66\n"), "\(text)")
            }
        }
    }

    @Test func `a killed run leaves its last progress in the metrics until the next run has ended`() async throws {
        try await Stage.with(.init(customers: 3)) { stage in
            let file = stage.directory + "/storeledger.prom"
            let progress =
                /storeledger_run_progress_timestamp_seconds\{job_file="[^"]+",app="com.example.game",[^}]*\} \d+\n/
            var job = stage.job
            let first = try await stage.storeledger("run", try stage.write(job), "--metrics-file", file)
            #expect(first.code == 0, "\(first)")
            let ended = try String(contentsOfFile: file, encoding: .utf8)
            #expect(!ended.contains(progress), "\(ended)")

            job.limits = Self.slow
            let path = try stage.write(job)
            try await stage.withStoreledger(["run", path, "--metrics-file", file]) { process in
                let sent = try await stage.store.requests().total
                try await stage.store.arrivals(sent + 1) { process.hasEnded }
                process.signal(SIGKILL)
                await process.wait()
            }
            let killed = try String(contentsOfFile: file, encoding: .utf8)
            #expect(killed.replacing(/[^\n]*run_progress[^\n]*\n/, with: "") == ended)
            #expect(killed.contains(progress), "\(killed)")

            // Who only reads does not know how the run ended.
            #expect(try await stage.storeledger("status", path, "--metrics-file", file).code == 0)
            #expect(try String(contentsOfFile: file, encoding: .utf8).contains(progress))
            let stopped = try await stage.storeledger("run", path, "--metrics-file", file, "--max-duration", "1s")
            #expect(stopped.code == 75, "\(stopped)")
            #expect(try !String(contentsOfFile: file, encoding: .utf8).contains(progress))
        }
    }

    private struct Notification: Decodable {
        struct Counts: Decodable { let items, itemsFailed, rowsNew, requests: Int }
        let job, app, environment, host, outcome, message, startedAt, endedAt: String
        let run: Int?
        let exitCode: Int
        let counts: Counts?
    }

    private static func read(_ request: WebhookServer.Request) throws -> Notification {
        #expect(request.head.hasPrefix("POST /hook/planted-token?a=b HTTP/1.1\r\n"), "\(request.head)")
        #expect(request.head.lowercased().contains("content-type: application/json"))
        return try JSONDecoder().decode(Notification.self, from: Data(request.body.utf8))
    }

    private static func notify(_ server: WebhookServer, _ endings: String?) -> String {
        let on = endings.map { ", on: [\($0)]" } ?? ""
        return "{url: \"http://127.0.0.1:\(server.port)/hook/planted-token?a=b\"\(on)}"
    }

    @Test func `a webhook receives failures alone by default, with counts, and without an ID of a customer`()
        async throws
    {
        try await Stage.with(.init(customers: 3)) { stage in
            let server = try WebhookServer()
            defer { server.stop() }
            var job = stage.job
            job.notify = Self.notify(server, nil)
            let path = try stage.write(job)
            try await stage.run(path)
            #expect(server.requests.count == 0)

            try Self.listUnknownID(&job, stage)
            try stage.write(job)
            try await stage.run(path, expecting: 2)

            #expect(server.requests.count == 1)
            let request = try #require(server.requests.last)
            let losses = try Self.read(request)
            #expect(losses.job == "nightly" && losses.app == "com.example.game" && losses.environment == "Production")
            #expect(losses.outcome == "failure" && losses.exitCode == 2 && losses.run == 2)
            #expect(losses.counts?.items == 4 && losses.counts?.itemsFailed == 1)
            #expect(losses.startedAt <= losses.endedAt && losses.endedAt.hasSuffix("Z") && !losses.host.isEmpty)
            #expect(!request.body.contains(Self.unknownID))

            // A run that did not begin has neither number nor counts, although earlier runs have.
            job.transactionIds = "query: \"SELECT 'jane@example.com'\""
            try stage.write(job)
            try await stage.run(path, expecting: 65)
            let bad = try Self.read(try #require(server.requests.last))
            #expect(server.requests.count == 2 && bad.exitCode == 65 && bad.run == nil && bad.counts == nil)
            #expect(bad.message == "bad job file or ID list; nothing was sent")

            let unreachable = ["DATABASE_URL": "postgresql://u@127.0.0.1:1/l", "STORELEDGER_DATABASE_DEADLINE": "1"]
            let down = try await stage.storeledger("run", path, environment: unreachable)
            #expect(down.code == 69 && server.requests.count == 3)
            #expect(try Self.read(try #require(server.requests.last)).exitCode == 69)
        }
    }

    @Test func `a webhook receives a success if the job says so, and a planned stop or a skipped run never`()
        async throws
    {
        try await Stage.with(.init(customers: 3)) { stage in
            let server = try WebhookServer()
            defer { server.stop() }
            var job = stage.job
            job.notify = Self.notify(server, "failure, success")
            job.limits = Self.slow
            let path = try stage.write(job)
            let stopped = try await stage.storeledger("run", path, "--max-duration", "1s")
            #expect(stopped.code == 75 && server.requests.count == 0, "\(stopped)")

            job.limits = stage.job.limits
            try stage.write(job)
            try await stage.run(path)
            #expect(server.requests.count == 1)
            let success = try Self.read(try #require(server.requests.last))
            #expect(success.outcome == "success" && success.exitCode == 0 && success.run == 1)

            let skipped = try await stage.storeledger("run", path, "--if-older-than", "1h")
            #expect(skipped.code == 0 && server.requests.count == 1, "\(skipped)")
            let nothing = try await stage.storeledger("retry", path)
            #expect(nothing.code == 0 && server.requests.count == 1, "\(nothing)")
        }
    }

    @Test(arguments: [400, 302, 0])
    func `a notification that is not delivered is a warning without the URL`(status: Int) async throws {
        try await Stage.with(.init(customers: 2)) { stage in
            let other = try WebhookServer()
            defer { other.stop() }
            // A redirect would give the document to another server.
            let location = "Location: http://127.0.0.1:\(other.port)/planted-token"
            let server = try WebhookServer { _, _ in .init(max(status, 200), [location], body: "planted-token") }
            defer { server.stop() }
            var job = stage.job
            // Without a server: a port of loopback without a listener.
            job.notify =
                status == 0
                ? "{url: \"http://127.0.0.1:1/hook/planted-token\", on: [success]}" : Self.notify(server, "success")
            let path = try stage.write(job)
            let file = stage.directory + "/storeledger.prom"
            let outcome = try await stage.storeledger("run", path, "--metrics-file", file)
            #expect(outcome.code == 0, "\(outcome.errors)")
            let why =
                status == 0
                ? "not delivered in 3 attempts: connect"
                : "not delivered: the server answered with HTTP status \(status)"
            #expect(outcome.errors.contains("storeledger: warning: notify: \(why)\n"), "\(outcome.errors)")
            #expect(!outcome.errors.contains("planted-token") && !outcome.errors.contains("hook"), "\(outcome.errors)")
            #expect(server.requests.count == (status == 0 ? 0 : 1) && other.requests.isEmpty)
            let metrics = try String(contentsOfFile: file, encoding: .utf8)
            #expect(metrics.contains(/storeledger_notify_delivered\{job_file="[^\n]*"\} 0\n/), "\(metrics)")
        }
    }

    @Test(arguments: [429, 500, 503])
    func `a notification is sent again after a failure that can pass, at most three times`(status: Int) async throws {
        try await Stage.with(.init(customers: 2)) { stage in
            let isBroken = Flag()
            let server = try WebhookServer { _, number in
                .init(number < 3 || isBroken.isSet ? status : 204, ["retry-after: 0"])
            }
            defer { server.stop() }
            var job = stage.job
            job.notify = Self.notify(server, "success")
            let path = try stage.write(job)
            let file = stage.directory + "/storeledger.prom"
            let delivered = try await stage.storeledger("run", path, "--metrics-file", file)
            #expect(delivered.code == 0 && server.requests.count == 3, "\(delivered.errors)")
            #expect(!delivered.errors.contains("notify"), "\(delivered.errors)")
            #expect(Set(server.requests.map(\.body)).count == 1)
            let metrics = try String(contentsOfFile: file, encoding: .utf8)
            #expect(metrics.contains(/storeledger_notify_delivered\{job_file="[^\n]*"\} 1\n/), "\(metrics)")

            isBroken.set()
            let lost = try await stage.storeledger("run", path)
            #expect(lost.code == 0 && server.requests.count == 6, "\(lost.errors)")
            let why = "notify: not delivered in 3 attempts: the server answered with HTTP status \(status)\n"
            #expect(lost.errors.contains(why), "\(lost.errors)")
        }
    }

    @Test func `a server that asks for a longer pause than the process waits gets one request`() async throws {
        try await Stage.with(.init(customers: 2)) { stage in
            let server = try WebhookServer { _, _ in .init(429, ["Retry-After: 3600"]) }
            defer { server.stop() }
            var job = stage.job
            job.notify = Self.notify(server, "success")
            let outcome = try await stage.storeledger("run", try stage.write(job))
            #expect(outcome.code == 0 && server.requests.count == 1, "\(outcome.errors)")
            #expect(outcome.errors.contains("not delivered: the server answered with HTTP status 429"))
        }
    }

    private static func chat(_ server: WebhookServer, _ format: String) -> String {
        "{url: \"http://127.0.0.1:\(server.port)/hook/planted-token\", format: \(format), on: [failure, success]}"
    }

    @Test func `Slack gets a text with the counts, without an ID of a customer, and its error is shown`() async throws {
        try await Stage.with(.init(customers: 3)) { stage in
            let server = try WebhookServer { _, number in
                .init(200, body: ["ok", "invalid_payload", "<html>planted-token</html>"][min(number, 3) - 1])
            }
            defer { server.stop() }
            var job = stage.job
            job.notify = Self.chat(server, "slack")
            try Self.listUnknownID(&job, stage)
            let path = try stage.write(job)
            #expect(try await !stage.run(path, expecting: 2).errors.contains("notify"))
            struct Message: Decodable { let text: String }
            let body = try #require(server.requests.first).body
            let lines = try JSONDecoder().decode(Message.self, from: Data(body.utf8)).text.split(separator: "\n")
            #expect(lines.first == "*StoreLedger: nightly ended with exit code 2*", "\(lines)")
            #expect(lines.contains("app: `com.example.game, Production`"), "\(lines)")
            #expect(lines.contains("run: `1`") && lines.contains("items: `4, 1 failed`"), "\(lines)")
            #expect(!body.contains(Self.unknownID) && !body.contains("planted"))

            let refused = try await stage.storeledger("run", path)
            #expect(refused.errors.contains("notify: not delivered: the server answered invalid_payload\n"))
            let strange = try await stage.storeledger("run", path)
            #expect(strange.errors.contains("notify: not delivered: the server answered with a text that is not ok\n"))
            #expect(server.requests.count == 3)
        }
    }

    @Test func `Teams gets an Adaptive Card, and a failure behind its status 200 is one`() async throws {
        try await Stage.with(.init(customers: 3)) { stage in
            let server = try WebhookServer { _, number in
                number == 1
                    ? .init(202)
                    : .init(200, body: "Microsoft Teams endpoint returned HTTP error 413 with ContextId planted-token")
            }
            defer { server.stop() }
            var job = stage.job
            job.notify = Self.chat(server, "teams")
            try Self.listUnknownID(&job, stage)
            let path = try stage.write(job)
            #expect(try await !stage.run(path, expecting: 2).errors.contains("notify"))
            struct Message: Decodable {
                struct Attachment: Decodable {
                    struct Card: Decodable {
                        struct Element: Decodable {
                            struct Fact: Decodable { let title, value: String }
                            let type: String
                            let text: String?
                            let facts: [Fact]?
                        }
                        let type, version: String
                        let body: [Element]
                    }
                    let contentType: String
                    let content: Card
                }
                let type: String
                let attachments: [Attachment]
            }
            let body = try #require(server.requests.first).body
            let message = try JSONDecoder().decode(Message.self, from: Data(body.utf8))
            #expect(message.type == "message" && message.attachments.count == 1)
            let card = try #require(message.attachments.first)
            #expect(
                card.contentType == "application/vnd.microsoft.card.adaptive" && card.content.type == "AdaptiveCard"
            )
            #expect(card.content.body.first?.text == "StoreLedger: nightly ended with exit code 2")
            let facts = card.content.body.flatMap { $0.facts ?? [] }
            #expect(facts.contains { $0.title == "items" && $0.value == "4, 1 failed" }, "\(body)")
            #expect(!body.contains(Self.unknownID) && !body.contains("planted"))

            let refused = try await stage.storeledger("run", path)
            #expect(refused.errors.contains("notify: not delivered: the server answered with HTTP status 413\n"))
        }
    }
}

/// A flag that a server's thread reads.
private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
}
