import FoundationEssentials
import TestSupport
import Testing

/// What a run makes of a store that misbehaves.
@Suite(.migratedDatabase)
struct FaultTests {
    /// A fault that passes, and that no data may show.
    struct PassingFault: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let rules: String
        /// Requests that are answered otherwise than with 200, at least.
        var refusals = 0
    }

    static let passing = [
        PassingFault(
            testDescription: "500s",
            rules:
                #"{"rules": [{"everyNth": 9, "fault": "status", "status": 500, "errorCode": 5000001, "errorMessage": "x"}]}"#,
            refusals: 5
        ),
        PassingFault(
            testDescription: "a 503 of a proxy",
            rules: #"{"rules": [{"everyNth": 11, "fault": "status", "status": 503, "body": "<html>"}]}"#,
            refusals: 4
        ),
        PassingFault(
            testDescription: "dropped connections",
            rules: #"{"rules": [{"everyNth": 8, "fault": "dropConnection"}]}"#,
            refusals: 5
        ),
        PassingFault(
            testDescription: "truncated bodies",
            rules: #"{"rules": [{"everyNth": 8, "fault": "truncateBody", "bytes": 700}]}"#
        ),
        PassingFault(
            testDescription: "bodies that are not JSON",
            rules: #"{"rules": [{"everyNth": 9, "fault": "garbageBody"}]}"#
        ),
        PassingFault(
            testDescription: "an expired token",
            rules: #"{"rules": [{"atRequest": 6, "fault": "status", "status": 401}]}"#,
            refusals: 1
        ),
        PassingFault(
            testDescription: "a spell of 401",
            rules: #"{"rules": [{"atRequest": 6, "fault": "refuseToken", "milliseconds": 1200}]}"#,
            refusals: 9
        ),
        PassingFault(
            testDescription: "random 401s",
            rules: #"{"rules": [{"everyNth": 4, "fault": "refuseToken"}]}"#,
            refusals: 10
        ),
        PassingFault(
            testDescription: "tokens that are valid only after a moment",
            rules: #"{"rules": [{"fault": "refuseNewToken", "milliseconds": 300}]}"#,
            refusals: 8
        ),
    ]

    @Test(arguments: passing)
    func `a fault that passes costs requests but no data`(fault: PassingFault) async throws {
        try await Stage.with(.init(customers: 15, transactionsPerCustomer: 25, faults: fault.rules)) { stage in
            // More than a page of notifications in one window, so that there are pagination tokens.
            _ = try await stage.store.advance(changes: 50)
            let path = try await stage.migrated(stage.job)
            try await stage.run(path)

            let book = try stage.book()
            expectNone(try await book.differences(from: stage.store.world()))
            for table in ["rejected_records", "schema_drift", "field_issues", "coverage_gaps"] {
                expectNone(try await book.column("SELECT t FROM \(table) t"), table)
            }
            let requests = try await stage.store.requests()
            let pages = try await book.count("SELECT sum(page_count) FROM crawl_items")
            #expect(requests.arrivals.count { $0.status != 200 } >= fault.refusals)
            #expect(requests.total > pages)
            let counted = try await book.count("SELECT sum(request_count) FROM crawl_items")
            #expect(counted >= pages)
            // A repeated request is counted and spends budget, also one that Apple has answered with 401.
            let wasRefused = requests.arrivals.map(\.status).contains(401)
            #expect(!wasRefused || counted == requests.total)
        }
    }

    @Test func `a page that repeats once costs a request but no data`() async throws {
        try await Stage.with(.init(customers: 15, transactionsPerCustomer: 25)) { stage in
            let path = try await stage.migrated(stage.job)
            let id = try #require(try await Self.customer(with: 21...80, in: stage)).id
            // The first page has no cursor to repeat; the second one has.
            try await stage.store.setFaults(
                """
                {"rules": [{"endpoint": "transactionHistory", "transactionId": "\(id)", "atRequest": 2,
                            "fault": "repeatPage"}]}
                """
            )
            try await stage.run(path)

            let book = try stage.book()
            expectNone(try await book.differences(from: stage.store.world()))
            #expect(
                try await stage.store.requests().total == book.count("SELECT sum(page_count) FROM crawl_items") + 1
            )
        }
    }

    @Test func `a cursor that has expired costs requests but no data`() async throws {
        try await Stage.with(.init(customers: 4, transactionsPerCustomer: 60)) { stage in
            _ = try await stage.store.advance(changes: 50)
            var job = stage.job
            // One window, or two around midnight, and one worker: the order of requests is known.
            job.streams = ["notificationHistory: {scope: app, startDate: -1h}"]
            job.limits = "{concurrency: 1, share: 1}"
            let path = try await stage.migrated(job)
            let expiry = #""endpoint": "notificationHistory", "fault": "expireToken""#
            try await stage.store.setFaults(
                "{\"rules\": [{\"atRequest\": 2, \(expiry)}, {\"atRequest\": 3, \(expiry)}]}"
            )
            try await stage.run(path)

            let book = try stage.book()
            expectNone(
                try await book.differences(from: stage.store.world()).filter { $0.hasPrefix("notification") }
            )
            #expect(try await stage.store.requests().arrivals.count { $0.status == 400 } == 1)
            #expect(try await book.count("SELECT sum(restarts) FROM crawl_items") == 1)
        }
    }

    @Test func `H20 no process sends a request to an endpoint before the time in its 429`() async throws {
        try await Stage.with(.init(customers: 30)) { stage in
            let path = try await stage.migrated(stage.job)
            let moment = Int64(Date.now.timeIntervalSince1970 * 1_000) + 3_000
            try await stage.store.setFaults(
                """
                {"rules": [{"endpoint": "transactionHistory", "atRequest": 10, "fault": "rateLimited",
                            "retryAfter": ["\(moment)"]}]}
                """
            )
            try await stage.run(path)

            let requests = try await stage.store.requests()
            let refused = requests.arrivals.first { $0.status == 429 }
            let refusal = try #require(refused)
            let later = requests.arrivals.filter { $0.endpoint == refusal.endpoint && $0.at > refusal.at }
            // Those that were on their way already.
            let early = later.filter { $0.at < moment }
            #expect(early.count < 8)
            #expect(later.count > 20)
            let book = try stage.book()
            #expect(try await book.count("SELECT sum(deferrals + restarts) FROM crawl_items") == 0)
            expectNone(try await book.differences(from: stage.store.world()))
        }
    }

    @Test(arguments: [("forgeSignature", "signature"), ("wrongBundle", "bundle"), ("expiredLeaf", "validity")])
    func `a record that fails verification is stored as rejected, and the rest is loaded`(fault: String, reason: String)
        async throws
    {
        try await Stage.with(.init(customers: 15, transactionsPerCustomer: 25)) { stage in
            let path = try await stage.migrated(stage.job)
            let book = try stage.book()
            let listed = try #require(try await Self.customer(with: 2...10, in: stage))
            try await stage.store.setFaults(
                #"{"rules": [{"endpoint": "transactionHistory", "transactionId": "\#(listed.id)", "fault": "\#(fault)"}]}"#
            )

            let outcome = try await stage.run(path, expecting: 2)

            #expect(outcome.output.contains("rejected           \(listed.records)\n"))
            let found = try await book.column("SELECT DISTINCT reason FROM rejected_records")
            #expect(found == [reason])
            #expect(
                try await book.count("SELECT count(*) FROM rejected_records WHERE item_key = '\(listed.id)'")
                    == listed.records
            )
            // What notifications tell of the same purchases is older, and believed.
            let differences = try await book.differences(from: stage.store.world())
            #expect(differences.count <= listed.records && differences.allSatisfy { $0.hasPrefix("transaction") })
            #expect(try await book.column("SELECT DISTINCT state FROM crawl_items") == ["done"])

            let replay = try await stage.storeledger("replay", path, "--rejected")
            #expect(replay.code == 2)
            #expect(
                replay.output
                    == "\(listed.records) payloads: 0 new, 0 updated, 0 unchanged, \(listed.records) rejected\n"
            )
            #expect(
                try await book.count("SELECT count(*) FROM rejected_records WHERE resolved_at IS NULL")
                    == listed.records
            )
        }
    }

    @Test func `a page with notifications that fail verification still loads the others`() async throws {
        try await Stage.with(.init(customers: 4)) { stage in
            _ = try await stage.store.advance(changes: 30)
            var job = stage.job
            // One window, or two around midnight, and one worker: the second page of 30 comes last.
            job.transactionIds = nil
            job.streams = ["notificationHistory: {scope: app, startDate: -1h}"]
            job.limits = "{concurrency: 1, share: 1}"
            let path = try await stage.migrated(job)
            try await stage.run(path)
            let pages = try await stage.store.requests().total
            let book = try stage.book()
            let all = try await book.count("SELECT count(*) FROM notifications")

            job.schema = "partial"
            try await stage.store.setFaults("{\"rules\": [{\"atRequest\": \(pages), \"fault\": \"wrongBundle\"}]}")
            try await stage.run(try await stage.migrated(job), expecting: 2)

            let partial = try stage.book(schema: job.schema)
            let rejected = try await partial.count("SELECT count(*) FROM rejected_records WHERE reason = 'bundle'")
            let loaded = try await partial.count("SELECT count(*) FROM notifications")
            #expect(rejected >= 10 && loaded == all - rejected && loaded >= 20)
        }
    }

    /// The first listed customer whose number of transactions is in `records`; rejecting all of ten or fewer stops no run.
    private static func customer(
        with records: ClosedRange<Int>,
        in stage: Stage
    ) async throws -> (id: String, records: Int)? {
        let ids = try String(contentsOfFile: stage.store.directory + "/ids.csv", encoding: .utf8)
            .split(separator: "\n")
        // The customer's transactions have the same first ten digits.
        let world = try await stage.store.world().split(separator: "\n").filter {
            $0.hasPrefix(#"{"kind":"transaction""#)
        }
        for id in ids.dropFirst() {
            let count = world.count { $0.contains(#""key":"\#(id.prefix(10))"#) }
            if records.contains(count) { return (String(id), count) }
        }
        return nil
    }

    @Test func `C19 an ID Apple does not know fails by itself`() async throws {
        try await Stage.with { stage in
            let ids = try String(contentsOfFile: stage.store.directory + "/ids.csv", encoding: .utf8)
            try stage.write(ids + "999999999999\n", to: "more.csv")
            var job = stage.job
            job.transactionIds = "csv: {path: more.csv}"
            let path = try await stage.migrated(job)

            try await stage.run(path, expecting: 2)

            let book = try stage.book()
            let failed =
                "SELECT stream || ' ' || item_key || ' ' || error_code || ' ' || error_message FROM crawl_items WHERE state = 'failed' ORDER BY 1"
            #expect(
                try await book.column(failed) == [
                    "refundHistory 999999999999 4040010 Transaction id not found.",
                    "transactionHistory 999999999999 4040010 Transaction id not found.",
                ]
            )
            expectNone(try await book.differences(from: stage.store.world()))
            let status = try await stage.storeledger("status", path)
            #expect(
                status.output.contains(
                    """
                      unknown to Apple: 1 ID, such as 999999999999; to list them: storeledger failures \(path)
                        remove wrong IDs from the list, or set sandboxFallback for testers
                        a job with changedSince requests them again only with: storeledger retry \(path)
                    """
                )
            )
        }
    }

    @Test func `N24 N32 a page that repeats endlessly fails its item and stops nothing`() async throws {
        try await Stage.with { stage in
            let ids = try String(contentsOfFile: stage.store.directory + "/ids.csv", encoding: .utf8).split(
                separator: "\n"
            )
            let path = try await stage.migrated(stage.job)
            try await stage.store.setFaults(
                #"{"rules": [{"endpoint": "refundHistory", "transactionId": "\#(ids[1])", "fault": "repeatPage"}]}"#
            )
            try await stage.run(path, expecting: 2)
            let book = try stage.book()
            #expect(
                try await book.column("SELECT item_key FROM crawl_items WHERE state = 'failed'") == [String(ids[1])]
            )
            expectNone(try await book.differences(from: stage.store.world()))

            try await stage.store.setFaults(#"{"rules": []}"#)
            try await stage.run(path)
            #expect(try await book.column("SELECT item_key FROM crawl_items WHERE state = 'failed'") == [])
        }
    }

    /// A wrong value of the job file, and what the message says of it.
    static let wrongValues = [
        ("privateKeyFile", "The key ID agrees with the name of the key file"),
        ("keyId", "Wrong key ID: Apple accepts the key with the ID "),
        ("issuerId", "The key ID agrees with the name of the key file"),
        ("bundleId", "Wrong bundle ID: Apple accepts the key for com.example.game, and not for com.example.typo"),
    ]

    @Test(arguments: wrongValues)
    func `H17 JF14 a key, key ID, issuer or bundle ID that Apple does not know stops the run, and is named`(
        member: String,
        finding: String
    ) async throws {
        try await Stage.with(.init(customers: 40, windowSeconds: 60)) { stage in
            var job = stage.job
            job.limits = "{share: 0.9, windowSeconds: 60}"
            let strange: String
            switch member {
            case "keyId": strange = "ABCDEFGHJK"
            case "issuerId": strange = "00000000-0000-4000-8000-000000000000"
            case "bundleId":
                // The ledger knows another app of the account.
                try await stage.run(try await stage.migrated(job))
                strange = "com.example.typo"
                job.name = "typo"
            default:
                // Another store's key: a good one, but not this store's.
                let keys = try await SimulatedStore.serving(.init(customers: 1), in: stage.directory + "/other") {
                    other in
                    try FileManager.default.contentsOfDirectory(atPath: other.directory).filter { $0.hasSuffix(".p8") }
                        .map { other.directory + "/" + $0 }
                }
                strange = try #require(keys.first)
            }
            let own = try #require(job.store.split(separator: "\n").first { $0.contains("\(member):") })
            job.store = job.store.replacing(own, with: "  \(member): \(strange)")
            let path = try await stage.migrated(job)
            let before = try await stage.store.requests().arrivals.count

            let outcome = try await stage.storeledger("run", path, "--progress", "none")

            #expect(outcome.code == 77)
            #expect(outcome.output == "")
            let last = try #require(outcome.errorLines.last)
            #expect(
                last.contains("HTTP 401: Apple refuses the key: nothing but 401 for ") && last.contains(finding),
                "\(last)"
            )
            let answers = try await stage.store.requests().arrivals.dropFirst(before).map(\.status)
            // Eight workers repeat their requests for five seconds; then the probes find the value.
            #expect(answers.count > 8 && answers.dropLast().allSatisfy { $0 == 401 })
            if member == "keyId" {
                let doctor = try await stage.storeledger("doctor", path)
                #expect(doctor.code == 77 && doctor.output.contains(finding), "\(doctor.output)")
            }
            #expect(try await stage.book().count("SELECT count(*) FROM crawl_items WHERE state = 'leased'") == 0)
        }
    }
}
