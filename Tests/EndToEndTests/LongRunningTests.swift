import AppStoreModel
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import SignedData

/// Processes that work for days, while clock, schema, keys, roots and secrets change under them.
@Suite(.migratedDatabase)
struct LongRunningTests {
    private static let changed = "was migrated while this process worked"

    // MARK: Schema

    @Test
    func
        `D32 a schema that is migrated under a receiver ends it with 78, and every notification answered 200 is stored`()
        async throws
    {
        try await ReceiverStage.with { stage in
            try await NewerVersion.with { newer in
                let book = try stage.book()
                let sent = try await stage.receiving { receiver in
                    try await receiver.expect(200, try stage.notification(1))
                    async let migration = newer.migrate(stage.job, environment: stage.environment)
                    var stored = [1]
                    var number = 1
                    // Until the receiver no longer accepts connections. A migration that fails would leave it running.
                    try await poll {
                        number += 1
                        let status = try? await receiver.post(try stage.notification(number))
                        if status == 200 { stored.append(number) }
                        if let status { #expect([200, 503].contains(status)) }
                        return receiver.process.hasEnded || number == 20_000
                    }
                    #expect(await receiver.process.wait() == 78, "\(receiver.process.errors)")
                    #expect(receiver.process.errors.contains(Self.changed), "\(receiver.process.errors)")
                    let outcome = try await migration
                    #expect(outcome.code == 0, "\(outcome.errors)")
                    return stored
                }
                let rows = Set(try await book.column("SELECT notification_uuid FROM received_notifications"))
                #expect(rows.isSuperset(of: sent.map(ReceiverStage.uuid)))
                let late =
                    "SELECT count(*) FROM received_notifications, migrated WHERE received_at > at OR normalised_at > at"
                #expect(try await book.count(late) == 0)
                // Nothing was lost: a receiver of that version makes the records.
                try await book.change("DELETE FROM schema_migrations WHERE name = '\(NewerVersion.migration)'")
                try await stage.receiving { _ in try await stage.normalized(book) }
                #expect(try await book.count("SELECT count(*) FROM notifications") == rows.count)
            }
        }
    }

    @Test func `D32 a receiver without notifications notices too that its schema was migrated`() async throws {
        try await ReceiverStage.with { stage in
            try await NewerVersion.with("ALTER TABLE received_notifications RENAME COLUMN body TO content;") { newer in
                try await stage.receiving { receiver in
                    let outcome = try await newer.migrate(stage.job, environment: stage.environment)
                    #expect(outcome.code == 0, "\(outcome.errors)")
                    #expect(await receiver.process.wait() == 78, "\(receiver.process.errors)")
                    #expect(receiver.process.errors.contains(Self.changed), "\(receiver.process.errors)")
                }
            }
        }
    }

    @Test func `D32 a schema that is migrated under a run ends it with 78, and the run goes on later`() async throws {
        try await Stage.with(.init(customers: 150, windowSeconds: 10)) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}"]
            job.limits = "{concurrency: 8, share: 0.3, windowSeconds: 10}"
            let path = try await stage.migrated(job)
            try await NewerVersion.with { newer in
                try await stage.withStoreledger(["run", path, "--progress", "plain"]) { process in
                    try await stage.store.arrivals(30) { process.hasEnded }
                    let outcome = try await newer.migrate(path, environment: ["DATABASE_URL": stage.databaseURL()])
                    #expect(outcome.code == 0, "\(outcome.errors)")
                    #expect(await process.wait() == 78, "\(process.errors)")
                    #expect(process.errors.contains(Self.changed), "\(process.errors)")
                }
                let book = try stage.book()
                #expect(try await book.count("SELECT count(*) FROM transactions") > 0)
                #expect(
                    try await book.count("SELECT count(*) FROM transactions, migrated WHERE first_seen_at > at") == 0
                )
                try await book.change("DELETE FROM schema_migrations WHERE name = '\(NewerVersion.migration)'")
                try await book.change("UPDATE crawl_items SET claimable_at = now() WHERE state = 'leased'")
                try await stage.run(path)
                expectNone(try await book.differences(from: stage.store.world()).filter { $0.hasPrefix("transaction") })
            }
        }
    }

    @Test func `D32 a schema that is migrated under status --watch ends it with 78`() async throws {
        try await Stage.with(.init(customers: 3)) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}"]
            let path = try await stage.migrated(job)
            try await stage.run(path)
            try await NewerVersion.with { newer in
                let environment = ["DATABASE_URL": stage.databaseURL()]
                // The first one is where the migration is: an upgrade replaces the SQL files of a running program, too.
                for (program, arguments) in [
                    (newer.storeledger, ["status", path, "--watch", "--json"]),
                    (Executables.storeledger, ["status", "--watch", "--json"]),
                ] {
                    let extra = newer.storeledger.replacing("/bin/storeledger", with: "/sql/migrations/9999_test.sql")
                    let kept = try String(contentsOfFile: extra, encoding: .utf8)
                    try FileManager.default.removeItem(atPath: extra)
                    try await withChildProcess(program, arguments, environment: environment) { process in
                        _ = await process.outputLine(with: "transactionHistory")
                        try Data(kept.utf8).write(to: URL(filePath: extra))
                        let outcome = try await newer.migrate(path, environment: environment)
                        #expect(outcome.code == 0, "\(outcome.errors)")
                        #expect(await process.wait() == 78, "\(process.errors)")
                        #expect(process.errors.contains(Self.changed), "\(process.errors)")
                    }
                    let book = try stage.book()
                    try await book.change("DELETE FROM schema_migrations WHERE name = '\(NewerVersion.migration)'")
                    try await book.change("DROP TABLE migrated")
                }
            }
        }
    }

    @Test func `D32 migrate waits until a transaction of another process ends, and the next one is refused`()
        async throws
    {
        try await Stage.with(.init(customers: 60)) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}"]
            let path = try await stage.migrated(job)
            try await NewerVersion.with { newer in
                let database = ["DATABASE_URL": stage.databaseURL()]
                let variables = database.merging(["STORELEDGER_FAILPOINT": "pageAdvanced@3=stop"]) { $1 }
                let book = try stage.book()
                try await withChildProcess(
                    Executables.failpoints,
                    ["run", path, "--progress", "plain"],
                    environment: variables
                ) { process in
                    _ = await process.errorLine(with: "failpoint ")
                    async let migration = newer.migrate(path, environment: database)
                    let waiting = """
                        SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
                         WHERE d.datname = current_database() AND NOT l.granted AND l.relation = to_regclass('schema_migrations')
                        """
                    try await poll { try await book.count(waiting) > 0 }
                    try await process.resume()
                    #expect(try await migration.code == 0)
                    #expect(await process.wait() == 78, "\(process.errors)")
                    #expect(process.errors.contains(Self.changed), "\(process.errors)")
                }
                #expect(try await book.count("SELECT count(*) FROM transactions") > 0)
                #expect(
                    try await book.count("SELECT count(*) FROM transactions, migrated WHERE first_seen_at > at") == 0
                )
            }
        }
    }

    @Test func `D32 a schema that is migrated under actions run --follow ends it with 78`() async throws {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let stage = scene.stage
            let answer =
                "- answer: {deliveryStatus: DELIVERED, sampleContentProvided: false, refundPreference: DECLINE}"
            let path = try scene.write(ConsumptionPolicyTests.job(rules: answer))
            struct Rehearsal: Decodable { let policy: String }
            let rehearsal = try await stage.storeledger("actions", "rehearse", path, "--json")
            let policy = try JSONDecoder().decode(Rehearsal.self, from: Data(rehearsal.output.utf8)).policy
            let approval = try await stage.storeledger(
                "actions",
                "approve",
                path,
                "--policy",
                policy,
                "--rows",
                "100",
                "--expires",
                "30d"
            )
            #expect(approval.code == 0, "\(approval.errors)")
            try await NewerVersion.with { newer in
                try await stage.withStoreledger(["actions", "run", path, "--follow"]) { process in
                    _ = await process.errorLine(with: "answering refund requests")
                    let outcome = try await newer.migrate(path, environment: ["DATABASE_URL": stage.databaseURL()])
                    #expect(outcome.code == 0, "\(outcome.errors)")
                    #expect(await process.wait() == 78, "\(process.errors)")
                    #expect(process.errors.contains(Self.changed), "\(process.errors)")
                }
            }
        }
    }

    // MARK: Clock

    @Test(.enabled(Comment(rawValue: Shim.missing)) { await ClockShim.library.value != nil })
    func `CK14 a receiver follows PostgreSQL's clock when it is set forward and back, and says so`() async throws {
        let library = await ClockShim.library.value
        try await OwnPostgres.running(copyOf: .migrated, library: library) { server in
            try await ReceiverStage.with(databaseURL: server.conninfo) { stage in
                let day = 86_400
                try server.setClock(by: -3 * day)
                try await stage.receiving { receiver in
                    // The clock is wrong at the start, and corrected.
                    let first = try stage.notification(1)
                    try await receiver.expect(503, first)
                    try server.setClock(by: 0)
                    try await receiver.expect(200, first)
                    // It is set back under the receiver, and corrected.
                    try server.setClock(by: -3 * day)
                    var number = 1
                    try await poll {
                        number += 1
                        return try await receiver.post(try stage.notification(number)) != 200
                    }
                    try server.setClock(by: 0)
                    try await receiver.expect(200, try stage.notification(number))
                    // It is set forward, and corrected. A notification of the future is accepted as long as it lasts.
                    let later = stage.scene.signedDate.rawValue + Int64(2 * day) * 1_000
                    func future(_ number: Int) throws -> String {
                        try stage.notification(number, ["signedDate": "\(later)"])
                    }
                    try await receiver.expect(503, try future(1_000))
                    try server.setClock(by: 3 * day)
                    try await receiver.expect(200, try future(1_000))
                    try server.setClock(by: 0)
                    number = 1_000
                    try await poll {
                        number += 1
                        return try await receiver.post(try future(number)) != 200
                    }
                    try await receiver.expect(200, try stage.notification(2_000))
                    #expect(!receiver.process.hasEnded)
                    for words in ["PostgreSQL's clock was set forward by", "PostgreSQL's clock was set back by"] {
                        #expect(receiver.process.errors.contains(words), "\(receiver.process.errors)")
                    }
                }
            }
        }
    }

    @Test(
        .enabled(Comment(rawValue: Shim.missing)) { await ClockShim.library.value != nil },
        arguments: [3 * 86_400, -3 * 86_400]
    )
    func `CK15 a run whose first request comes after PostgreSQL's clock was set ends with 78 and stores nothing`(
        seconds: Int
    ) async throws {
        try await Stage.with(.init(customers: 20)) { stage in
            let library = await ClockShim.library.value
            try await OwnPostgres.running(copyOf: .migrated, library: library) { server in
                var job = stage.job
                job.streams = ["transactionHistory: {}"]
                let path = try stage.write(job)
                let database = ["DATABASE_URL": server.conninfo]
                let book = LedgerBook(pool: server.pool(), schema: "appstore")
                try server.setClock(by: seconds)
                let variables = database.merging(["STORELEDGER_FAILPOINT": "runInserted@1=stop"]) { $1 }
                try await withChildProcess(
                    Executables.failpoints,
                    ["run", path, "--progress", "plain"],
                    environment: variables
                ) { process in
                    _ = await process.errorLine(with: "failpoint ")
                    try server.setClock(by: 0)
                    try await process.resume()
                    #expect(await process.wait() == 78, "\(process.errors)")
                    let words = "PostgreSQL's clock was set \(seconds > 0 ? "back" : "forward") by"
                    #expect(process.errors.contains(words), "\(process.errors)")
                }
                #expect(try await book.count("SELECT count(*) FROM transactions") == 0)
                #expect(try await stage.store.requests().total == 0)
                let next = try await stage.storeledger("run", path, "--progress", "none", environment: database)
                #expect(next.code == 0, "\(next.errors)")
            }
        }
    }

    @Test(
        .enabled(Comment(rawValue: Shim.missing)) { await ClockShim.library.value != nil },
        arguments: [7_200, -1_800]
    )
    func
        `CK15 CK17 answers by a policy end with 78 when PostgreSQL's clock is set, and none is sent by the wrong clock`(
            seconds: Int
        ) async throws
    {
        try await Stage.with(.init(customers: 40)) { stage in
            let library = await ClockShim.library.value
            try await OwnPostgres.running(copyOf: .migrated, library: library) { server in
                let database = ["DATABASE_URL": server.conninfo]
                func run(_ arguments: String...) async throws -> Stage.Outcome {
                    try await stage.withStoreledger(arguments, environment: database) { process in
                        let code = await process.wait()
                        return Stage.Outcome(code: code, output: process.output, errors: process.errors)
                    }
                }
                let crawl = try stage.write(stage.job)
                _ = try await stage.store.advance(refundRequests: 80)
                #expect(try await run("run", crawl, "--progress", "none").code == 0)
                let scene = ActionScene(stage: stage, crawl: crawl)
                let answer =
                    "- answer: {deliveryStatus: DELIVERED, sampleContentProvided: false, refundPreference: DECLINE}"
                var job = ConsumptionPolicyTests.job(rules: answer)
                job.limits = "{share: 1, concurrency: 2, windowSeconds: 10, requestsPerSecond: {ENDPOINT: 2}}"
                let path = try scene.write(job)
                struct Rehearsal: Decodable { let policy: String }
                let rehearsal = Data(try await run("actions", "rehearse", path, "--json").output.utf8)
                let policy = try JSONDecoder().decode(Rehearsal.self, from: rehearsal).policy
                let approval = [
                    "actions", "approve", path, "--policy", policy, "--rows", "100", "--expires", "30d",
                ]
                try await stage.withStoreledger(approval, environment: database) { #expect(await $0.wait() == 0) }

                try await stage.withStoreledger(["actions", "run", path, "--follow"], environment: database) {
                    process in
                    try await poll { try await scene.applied().count >= 3 }
                    try server.setClock(by: seconds)
                    #expect(await process.wait() == 78, "\(process.errors)")
                    let words = "PostgreSQL's clock was set \(seconds > 0 ? "forward" : "back") by"
                    #expect(process.errors.contains(words), "\(process.errors)")
                }
                let answered = try await scene.applied()
                #expect(answered.count < 60 && answered.allSatisfy { $0.requested == 1 }, "\(answered.count)")

                let late = try await run("actions", "run", path)
                #expect(late.code == 78 && late.errors.contains("this machine's clock is"), "\(late.errors)")
                #expect(try await scene.applied().count == answered.count)
            }
        }
    }

    // MARK: Files

    @Test func `a receiver reads its trusted roots and its shared secret again when they are replaced`() async throws {
        try await ReceiverStage.with { stage in
            let (root, secret) = (stage.directory + "/root.cer", stage.directory + "/shared-secret")
            let first = try Data(contentsOf: URL(filePath: root))
            let other = try RecordStage.scenes(2)[1].authority
            try await stage.receiving { receiver in
                try await receiver.expect(200, ReceiverStage.unsigned())
                // Files that cannot be used leave the old ones in use.
                try Data("not a certificate".utf8).write(to: URL(filePath: root), options: .atomic)
                try Self.replace(secret, with: "two words\n")
                for words in [
                    "the new file of the trusted roots cannot be used",
                    "the new file of the shared secret cannot be used",
                ] {
                    _ = try #require(await receiver.process.errorLine(with: words), "\(receiver.process.errors)")
                }
                try await receiver.expect(200, ReceiverStage.unsigned(original: "730000000002"))

                // A wrong root is corrected, while Apple repeats what was refused.
                try Data(other.root.der).write(to: URL(filePath: root), options: .atomic)
                try Self.replace(secret, with: "another-secret\n")
                for words in ["the trusted roots were read again", "the shared secret was read again"] {
                    _ = try #require(await receiver.process.errorLine(with: words), "\(receiver.process.errors)")
                }
                let body = try stage.notification(1)
                try await receiver.expect(503, body)
                try await receiver.expect(503, ReceiverStage.unsigned(original: "730000000003"))
                try await receiver.expect(
                    200,
                    ReceiverStage.unsigned(password: "another-secret", original: "730000000003")
                )
                try first.write(to: URL(filePath: root), options: .atomic)
                try await poll { try await receiver.post(body) == 200 }

                // The ledger has records now, so another root is refused, and the right one stays in use.
                try await stage.normalized(try stage.book())
                try Data(other.root.der).write(to: URL(filePath: root), options: .atomic)
                _ = await receiver.process.errorLine(with: "has records")
                try await receiver.expect(200, try stage.notification(2))
                #expect(!receiver.process.hasEnded)
            }
        }
    }

    private static func replace(_ path: String, with text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path + ".new"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path + ".new")
        #expect(unsafe rename(path + ".new", path) == 0)
    }

    /// Runs a job slowly, and changes a file after some requests.
    private static func changing(
        _ change: (_ stage: Stage, _ job: String, _ keyFile: String) throws -> Void,
        check: (ChildProcess, Stage) async throws -> Void
    ) async throws {
        try await Stage.with(.init(customers: 150, windowSeconds: 10)) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}"]
            job.limits = "{concurrency: 8, share: 0.3, windowSeconds: 10}"
            let path = try await stage.migrated(job)
            let files = try FileManager.default.contentsOfDirectory(atPath: stage.store.directory)
            let keyFile = stage.store.directory + "/" + (try #require(files.first { $0.hasSuffix(".p8") }))
            try await stage.withStoreledger(["run", path, "--progress", "plain"]) { process in
                try await stage.store.arrivals(30) { process.hasEnded }
                try change(stage, path, keyFile)
                // Apple refuses the token for so long that the process signs another one.
                try await stage.store.setFaults(
                    #"{"rules": [{"endpoint": "transactionHistory", "fault": "refuseToken", "milliseconds": 1500}]}"#
                )
                try await check(process, stage)
            }
        }
    }

    @Test func `a run whose token is refused reads the key file again`() async throws {
        try await Self.changing { _, _, keyFile in
            try Self.replace(keyFile, with: SigningKey.generate().pem.reveal())
        } check: { process, _ in
            // The store does not know that key.
            #expect(await process.wait() == 77, "\(process.errors)")
            #expect(
                process.errors.contains("so tokens are signed with the key that they name now"),
                "\(process.errors)"
            )
        }
    }

    @Test func `a run goes on with the key that it has while the key file cannot be used, and says so`() async throws {
        try await Self.changing { _, _, keyFile in
            try Self.replace(keyFile, with: "half a key")
        } check: { process, stage in
            #expect(await process.wait() == 0, "\(process.errors)")
            #expect(process.errors.contains("so the key stays as it was"), "\(process.errors)")
            let tokens = Set(try await stage.store.requests().arrivals.compactMap(\.token))
            #expect(tokens.count >= 2)
        }
    }

    @Test func `a run whose token is refused reads the key ID in the job file again`() async throws {
        try await Self.changing { stage, job, keyFile in
            let text = try String(contentsOfFile: job, encoding: .utf8)
            let id = URL(filePath: keyFile).lastPathComponent.dropFirst("SubscriptionKey_".count).dropLast(".p8".count)
            try stage.write(text.replacing("keyId: \(id)", with: "keyId: OTHERKEYID"), to: "extra.yaml")
            #expect(unsafe rename(stage.store.directory + "/extra.yaml", job) == 0)
        } check: { process, _ in
            #expect(await process.wait() == 77, "\(process.errors)")
        }
    }

    @Test func `a run ends with 78 when its trusted roots are replaced by others`() async throws {
        let other = try RecordStage.scenes(1)[0].authority
        try await Self.changing { stage, _, _ in
            try Data(other.root.der).write(to: URL(filePath: stage.store.directory + "/root.cer"), options: .atomic)
        } check: { process, stage in
            #expect(await process.wait() == 78, "\(process.errors)")
            #expect(process.errors.contains("trustedRoots were changed while this process worked"), "\(process.errors)")
        }
    }
}
