import FoundationEssentials
import Glibc
import Postgres
import TestSupport
import Testing

/// `storeledger actions`, from the plan to the result files and the confirmation by a crawl.
@Suite(.migratedDatabase)
struct ActionTests {
    @Test func `the outage example: planned, approved, sent, killed in the middle, sent again, and seen by the crawl`()
        async throws
    {
        try await ActionScene.with { scene in
            var job = ActionScene.Job()
            job.input = """
                query: "SELECT DISTINCT original_transaction_id FROM appstore.subscription_periods \\
                    WHERE starts_at < now() AND ends_at > now() - interval '30 days' ORDER BY 1"
                """.replacing("\\\n", with: "\n")
            let path = try scene.write(job)
            let plan = try await scene.approve(path)
            #expect(plan.rowsToSend > 20 && plan.rows > plan.rowsToSend)
            #expect(plan.rules.contains { $0.verdict == "ineligible" && $0.rule == "not_active" })
            #expect(!plan.money.isEmpty && plan.requests.count == 5)
            #expect(abs(plan.secondsAtAppleLimit * 100_000 - Double(plan.rowsToSend)) < 0.001)
            let request = try #require(plan.requests.first)
            #expect(request.method == "PUT" && request.path.hasPrefix("/inApps/v1/subscriptions/extend/"))
            #expect(request.body.hasPrefix(#"{"extendByDays":7,"extendReasonCode":3,"requestIdentifier":""#))

            #expect(try await scene.kill(path, at: "writeAnswered@9"))
            try await scene.endLeases()
            let outcome = try await scene.send(path)
            #expect(outcome.output.contains("\(plan.rowsToSend) succeeded"), "\(outcome.output)")

            try scene.expectEveryRowOnce(plan.rows)
            let succeeded = try scene.results("succeeded")
            #expect(succeeded.count == plan.rowsToSend)
            let applied = try await scene.applied()
            #expect(applied.allSatisfy { $0.applied == 1 } && applied.count == plan.rowsToSend)
            #expect(
                Set(applied.compactMap(\.requestIdentifier))
                    == Set(succeeded.values.compactMap { $0["outcome_request_id"] })
            )

            let confirmed = """
                SELECT count(*) FROM actions_confirmed WHERE seen_in = 'RENEWAL_EXTENDED notification' AND expires_date_later
                   AND requested::jsonb = '{"extend_by_days": 7, "extend_reason_code": 3}'
                """
            let book = try scene.stage.book()
            #expect(try await book.count(confirmed) == 0)
            try await scene.stage.run(scene.crawl)
            #expect(try await book.count(confirmed) == plan.rowsToSend)
        }
    }

    @Test(arguments: [
        "intentWanted", "intentInserted", "intentCommitted", "requestUnderWay", "writeAnswered", "outcomeUpdated",
        "writeRecorded",
    ])
    func `a run that is killed at any point and started again sends every row once`(point: String) async throws {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let ids = try await scene.extensible(12)
            try scene.list(ids + ["1"])
            let path = try scene.write()
            try await scene.approve(path)
            for nth in [1, 5, 9] {
                _ = try await scene.kill(path, at: "\(point)@\(nth)")
                try await scene.endLeases()
                let results = try await scene.stage.storeledger("actions", "results", path)
                #expect(results.code == 0, "\(results.errors)")
                try scene.expectEveryRowOnce(13)
            }
            _ = try await scene.send(path)
            try scene.expectEveryRowOnce(13)
            #expect(try scene.results("succeeded").count == 12 && scene.results("unprocessed").count == 1)
            let applied = try await scene.applied()
            #expect(applied.count == 12 && applied.allSatisfy { $0.applied == 1 })
        }
    }

    @Test func `a plan that is killed before it is committed leaves no batch`() async throws {
        try await ActionScene.with(.init(customers: 10)) { scene in
            try scene.list(try await scene.extensible(3))
            let path = try scene.write()
            let variables = ["DATABASE_URL": scene.stage.databaseURL(), "STORELEDGER_FAILPOINT": "batchPlanned@1=kill"]
            try await withChildProcess(Executables.failpoints, ["actions", "plan", path], environment: variables) {
                process in
                await process.wait()
                #expect(process.errors.contains("failpoint batchPlanned"), "\(process.errors)")
            }
            let book = try scene.stage.book()
            #expect(try await book.count("SELECT count(*) FROM action_batches") == 0)
            #expect(try await book.count("SELECT count(*) FROM action_rows") == 0)
            #expect(try await scene.plan(path).rowsToSend == 3)
        }
    }

    @Test func `a lost answer is settled by the same request and by signed data: as applied, or as not applied`()
        async throws
    {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let ids = try await scene.extensible(9)
            try scene.list(ids)
            let path = try scene.write()
            try await scene.approve(path)
            func rule(_ id: String, _ fault: String) -> String {
                #"{"endpoint": "extendRenewalDate", "transactionId": "\#(id)", "atRequest": 1, "fault": \#(fault)}"#
            }
            try await scene.stage.store.setFaults(
                """
                {"rules": [\(rule(ids[0], #""applyThenDrop""#)), \(rule(ids[1], #""applyThenStatus", "status": 500"#)),
                    \(rule(ids[2], #""status", "status": 500"#)), \(rule(ids[3], #""dropConnection""#)),
                    \(rule(ids[8], #""status", "status": 500"#)),
                    {"endpoint": "extendRenewalDate", "transactionId": "\(ids[8])", "fault": "status", "status": 403, "errorCode": 4030004},
                    {"endpoint": "extendRenewalDate", "fault": "refuseRepeat"}]}
                """
            )
            _ = try await scene.send(path, expecting: 2)
            try scene.expectEveryRowOnce(9)
            let succeeded = try scene.results("succeeded")
            #expect(succeeded.count == 8)
            for (position, isConfirmed) in [(1, true), (2, true), (3, true), (4, true), (5, false)] {
                let row = try #require(succeeded[position])
                #expect((row["outcome_confirmed_by"]?.hasPrefix("expiresDate ") == true) == isConfirmed, "\(row)")
            }
            let applied = try await scene.applied()
            #expect(applied.count == 8 && applied.allSatisfy { $0.applied == 1 })
            // Every attempt is recorded, with one ID for all attempts of a row.
            let book = try scene.stage.book()
            #expect(try await book.count("SELECT count(*) FROM action_attempts WHERE purpose = 'repeat'") == 5)
            #expect(try await book.count("SELECT count(*) FROM action_attempts WHERE ended_at IS NULL") == 0)
            // Apple has refused the repeat of the last row, and its data has not changed.
            let row = try #require(try scene.results("unprocessed")[9])
            #expect(row["outcome"] == "not_applied" && row["outcome_request_id"]?.isEmpty == false, "\(row)")
            #expect(row["outcome_confirmed_by"]?.hasSuffix(" is unchanged") == true, "\(row)")
            let plan = try await scene.retry(path)
            #expect(plan.rows == 1 && plan.rowsToSend == 1, "\(plan)")
        }
    }

    @Test func `an outcome that cannot be known is unknown and exit code 2, until a later run finds it out`()
        async throws
    {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let ids = try await scene.extensible(3)
            try scene.list(ids)
            let path = try scene.write()
            try await scene.approve(path)
            // The repeats and the readings fail too, so nothing is known.
            try await scene.stage.store.setFaults(
                """
                {"rules": [{"endpoint": "extendRenewalDate", "transactionId": "\(ids[0])", "atRequest": 1, "fault": "applyThenDrop"},
                    {"endpoint": "extendRenewalDate", "transactionId": "\(ids[0])", "fault": "dropConnection"},
                    {"endpoint": "subscriptionStatuses", "fault": "status", "status": 500}]}
                """
            )
            let outcome = try await scene.send(path, expecting: 2)
            #expect(outcome.output.contains("2 succeeded, 1 unknown"), "\(outcome.output)")
            #expect(outcome.output.contains("storeledger actions run \(path) tries to find out"), "\(outcome.output)")
            try scene.expectEveryRowOnce(3)
            #expect(try scene.results("unknown").keys.sorted() == [1])

            try await scene.stage.store.setFaults(#"{"rules": []}"#)
            _ = try await scene.send(path)
            #expect(try scene.results("succeeded").count == 3 && scene.results("unknown").isEmpty)
            #expect(try await scene.applied().allSatisfy { $0.applied == 1 })
        }
    }

    @Test func `a rejected row never ends the batch, and is planned again by retry`() async throws {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let ids = try await scene.extensible(6)
            try scene.list(ids.map { "\($0),note \($0)" }, header: "original_transaction_id,note")
            let path = try scene.write()
            try await scene.approve(path)
            let codes = [(ids[0], 4_030_004), (ids[1], 4_030_005), (ids[2], 4_030_007)]
            let rules = codes.map { id, code in
                #"{"endpoint": "extendRenewalDate", "transactionId": "\#(id)", "fault": "status", "status": 403, "errorCode": \#(code), "errorMessage": "no"}"#
            }
            let refused =
                #"{"endpoint": "extendRenewalDate", "transactionId": "\#(ids[3])", "fault": "garbageBody", "body": "{\"success\": false}"}"#
            try await scene.stage.store.setFaults("{\"rules\": [\((rules + [refused]).joined(separator: ","))]}")
            let outcome = try await scene.send(path, expecting: 2)
            #expect(outcome.output.contains("rejected, 4030005 no: 1"), "\(outcome.output)")
            let rejected = try scene.results("rejected")
            #expect(rejected.keys.sorted() == [1, 2, 3, 4])
            #expect(rejected[1]?["outcome_apple_code"] == "4030004" && rejected[1]?["note"] == "note \(ids[0])")
            #expect(rejected[4]?["outcome_apple_message"] == "Apple answered success: false")
            #expect(try scene.results("succeeded").count == 2)

            try await scene.stage.store.setFaults(#"{"rules": []}"#)
            let plan = try await scene.retry(path)
            #expect(plan.rows == 4 && plan.rowsToSend == 4, "\(plan)")
            #expect(try await scene.approve(path, plan.batch, 4).code == 0)
            _ = try await scene.send(path)
            #expect(try scene.results("succeeded").count == 4)
            #expect(try await scene.applied().count == 6)
            let none = try await scene.stage.storeledger("actions", "retry", path)
            #expect(none.code == 0 && none.errors.contains("no rejected rows in its last batch"), "\(none)")
        }
    }

    @Test func `stopAfter ends a run with 76, refused credentials with 77, and rows that were not sent stay approved`()
        async throws
    {
        try await ActionScene.with(.init(customers: 40)) { scene in
            try scene.list(try await scene.extensible(10))
            var job = ActionScene.Job()
            job.stopAfter = "{consecutiveRejections: 3}"
            job.limits = job.limits.replacing("concurrency: 8", with: "concurrency: 1")
            let path = try scene.write(job)
            try await scene.approve(path)
            try await scene.stage.store.setFaults(
                #"{"rules": [{"endpoint": "extendRenewalDate", "fault": "status", "status": 401}]}"#
            )
            let refused = try await scene.send(path, expecting: 77)
            #expect(refused.errors.contains("Rows that were not sent stay approved"), "\(refused.errors)")
            #expect(refused.errors.contains("Apple refuses the key: nothing but 401 for "), "\(refused.errors)")
            #expect(try await scene.stage.book().column("SELECT DISTINCT state FROM action_rows") == ["approved"])

            try await scene.stage.store.setFaults(
                #"{"rules": [{"endpoint": "extendRenewalDate", "fault": "status", "status": 403, "errorCode": 4030004}]}"#
            )
            let stopped = try await scene.send(path, expecting: 76)
            let sentence = "Apple rejected 3 rows in a row (stopAfter.consecutiveRejections)"
            #expect(stopped.errors.contains(sentence), "\(stopped.errors)")
            let states = try await scene.stage.book().column(
                "SELECT state || ' ' || count(*) FROM action_rows GROUP BY state ORDER BY 1"
            )
            #expect(states == ["approved 7", "rejected 3"])
        }
    }

    @Test func `a run that ends for the answer to one request first records the answers to the others`() async throws {
        try await ActionScene.with(.init(customers: 40)) { scene in
            try scene.list(try await scene.extensible(8))
            let path = try scene.write()
            try await scene.approve(path)
            // Without a body, a 403 ends the run. It is the first answer, to the last of eight concurrent requests.
            try await scene.stage.store.setFaults(
                """
                {"rules": [{"endpoint": "extendRenewalDate", "atRequest": 8, "fault": "status", "status": 403, "body": ""},
                 {"endpoint": "extendRenewalDate", "fault": "delay", "milliseconds": 1000}]}
                """
            )
            _ = try await scene.send(path, expecting: 77)
            let states = try await scene.stage.book().column(
                "SELECT state || ' ' || may_be_applied || ' ' || count(*) FROM action_rows GROUP BY state, may_be_applied ORDER BY 1"
            )
            #expect(states == ["approved false 1", "succeeded false 7"])
            let answered = "SELECT count(*) FROM action_attempts WHERE http_status IN (200, 403)"
            #expect(try await scene.stage.book().count(answered) == 8)
            #expect(try await scene.applied().count { $0.applied == 1 } == 7)
        }
    }

    @Test(.startsEarly)
    func `two processes send one batch together, each row once, and a 429 of one stops both for a time`() async throws {
        try await ActionScene.with(.init(customers: 60)) { scene in
            let ids = try await scene.extensible(14)
            try scene.list(ids)
            var job = ActionScene.Job()
            job.limits = job.limits.replacing("concurrency: 8", with: "concurrency: 1")
            let path = try scene.write(job)
            try await scene.approve(path)
            let store = scene.stage.store
            try await store.setFaults(
                #"{"rules": [{"endpoint": "extendRenewalDate", "atRequest": 9, "fault": "rateLimited"}, {"endpoint": "extendRenewalDate", "fault": "delay", "milliseconds": 500}]}"#
            )
            let before = try await store.requests().total
            try await scene.stage.withStoreledger(["actions", "run", path]) { first in
                // The first one is at its first row, and has several seconds to go.
                try await store.arrivals(before + 1) { first.hasEnded }
                _ = try await scene.send(path)
                #expect(await first.wait() == 0, "\(first.errors)")
            }
            let sent = try await store.requests().arrivals.filter { $0.endpoint == "extendRenewalDate" }
            #expect(Set(sent.compactMap(\.token)).count == 2, "one of the two has sent nothing")
            let book = try scene.stage.book()
            #expect(try await book.count("SELECT count(*) FROM action_rows WHERE state = 'succeeded'") == 14)
            #expect(try await scene.applied().allSatisfy { $0.applied == 1 && $0.requested == 1 })
            #expect(sent.count == 15 && sent.count { $0.status == 429 } == 1)
        }
    }

    @Test func `an extension by an earlier batch is not mistaken for the extension of a lost request`() async throws {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let ids = try await scene.extensible(2)
            try scene.list(ids)
            var job = ActionScene.Job()
            let first = try scene.write(job)
            job.name = "second"
            let second = try scene.write(job)
            // The ledger has the dates from before the first batch, and both batches give seven days.
            try await scene.approve(first)
            try await scene.approve(second)
            _ = try await scene.send(first)
            try await scene.stage.store.setFaults(
                """
                {"rules": [{"endpoint": "extendRenewalDate", "transactionId": "\(ids[0])", "atRequest": 1, "fault": "status", "status": 500},
                    {"endpoint": "extendRenewalDate", "transactionId": "\(ids[0])", "fault": "status", "status": 403,
                     "errorCode": 4030005}]}
                """
            )
            let sent = try await scene.send(second, expecting: 2)
            // Both jobs write to the same directory.
            #expect(
                sent.errors.contains("the result files of second replace the result files of extend-after-outage in "),
                "\(sent.errors)"
            )
            #expect(try scene.results("unknown").keys.sorted() == [1])
            #expect(try scene.results("succeeded").keys.sorted() == [2])
            // A plan without a crawl in between takes the date from Apple's answer, and is not misled either.
            job.name = "third"
            job.action = "extendRenewalDate: {extendByDays: 3, extendReasonCode: 1}"
            let plan = try await scene.plan(try scene.write(job))
            #expect(plan.rowsToSend == 0 && plan.rules.map(\.rule) == ["two_extensions"], "\(plan)")
        }
    }

    @Test func `SIGTERM and --max-duration end a run in order, and the next run sends the rest`() async throws {
        try await ActionScene.with(.init(customers: 60)) { scene in
            let ids = try await scene.extensible(16)
            try scene.list(ids)
            var job = ActionScene.Job()
            job.limits = job.limits.replacing("concurrency: 8", with: "concurrency: 2")
            let path = try scene.write(job)
            try await scene.approve(path)
            let store = scene.stage.store
            try await store.setFaults(
                #"{"rules": [{"endpoint": "extendRenewalDate", "fault": "delay", "milliseconds": 700}]}"#
            )
            let book = try scene.stage.book()
            let before = try await store.requests().total
            let stopped = try await scene.stage.withStoreledger(["actions", "run", path]) { process in
                try await store.arrivals(before + 3) { process.hasEnded }
                process.signal(SIGTERM)
                return Stage.Outcome(code: await process.wait(), output: process.output, errors: process.errors)
            }
            #expect(stopped.code == 75)
            let line = try #require(stopped.errorLines.last)
            #expect(line.hasPrefix("stopped by signal 15 with "), "\(stopped.errors)")
            #expect(line.hasSuffix("; storeledger actions run \(path) continues"), "\(stopped.errors)")

            let limited = try await scene.stage.storeledger("actions", "run", path, "--max-duration", "1s")
            #expect(limited.code == 75 && limited.errors.contains("stopped after 1.0 s with "), "\(limited.errors)")
            let states = try await book.column("SELECT DISTINCT state FROM action_rows")
            #expect(Set(states).isSubset(of: ["approved", "succeeded", "unknown"]), "\(states)")
            #expect(try await book.count("SELECT count(*) FROM action_rows WHERE lease_owner IS NOT NULL") == 0)
            // Only a request whose answer was not waited for leaves its row unknown.
            let unknown = try await book.count("SELECT count(*) FROM action_rows WHERE state = 'unknown'")
            #expect(try await book.count("SELECT count(*) FROM action_attempts WHERE ended_at IS NULL") == unknown)
            let results = try await scene.stage.storeledger("actions", "results", path)
            #expect(results.code == 0, "\(results.errors)")
            try scene.expectEveryRowOnce(16)

            try await store.setFaults(#"{"rules": []}"#)
            _ = try await scene.send(path)
            #expect(try scene.results("succeeded").count == 16)
            #expect(try await scene.applied().allSatisfy { $0.applied == 1 })
        }
    }

    @Test func `a batch whose approval has expired does not delay a newer one`() async throws {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let ids = try await scene.extensible(4)
            try scene.list(Array(ids.prefix(2)))
            let path = try scene.write()
            try await scene.approve(path)
            try await scene.expireApprovals()
            _ = try await scene.send(path, expecting: 78)
            try scene.list(ids)
            #expect(try await scene.approve(path).rowsToSend == 4)
            _ = try await scene.send(path)
            #expect(try scene.results("succeeded").count == 4)
        }
    }

    @Test func `a run writes its metrics after every end, and its progress as JSON lines`() async throws {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let ids = try await scene.extensible(3)
            try scene.list(ids + ["1"])
            let path = try scene.write()
            let file = scene.stage.directory + "/actions.prom"
            func metrics() throws -> [Substring] {
                try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").filter { !$0.hasPrefix("#") }
            }
            let refused = try await scene.stage.storeledger("actions", "run", path, "--metrics-file", file)
            #expect(refused.code == 78)
            #expect(try metrics().contains { $0.hasPrefix("storeledger_last_exit_code{") && $0.hasSuffix("} 78") })
            try await scene.approve(path)
            try await scene.stage.store.setFaults(
                """
                {"rules": [{"endpoint": "extendRenewalDate", "transactionId": "\(ids[0])", "fault": "status", "status": 403,
                     "errorCode": 4030007}, {"endpoint": "extendRenewalDate", "fault": "delay", "milliseconds": 1500}]}
                """
            )
            let arguments = ["actions", "run", path, "--metrics-file", file, "--progress", "json"]
            let outcome = try await scene.stage.withStoreledger(arguments) { process in
                Stage.Outcome(code: await process.wait(), output: process.output, errors: process.errors)
            }
            #expect(outcome.code == 2)
            #expect(outcome.errors.contains(#""event":"progress""#) && outcome.errors.contains(#""rowsTotal":3"#))
            let lines = try metrics()
            for (outcome, rows) in [("succeeded", 2), ("rejected", 1), ("unprocessed", 1), ("unknown", 0)] {
                #expect(
                    lines.contains {
                        $0.hasPrefix("storeledger_action_rows{") && $0.hasSuffix("outcome=\"\(outcome)\"} \(rows)")
                    },
                    "\(lines)"
                )
            }
            #expect(lines.contains { $0.hasPrefix("storeledger_action_finished_timestamp_seconds{") })
            #expect(!lines.contains { $0.contains("oldest_unknown") })
        }
    }

    @Test func `a row of an erased customer is never sent, and keeps only its place in the results`() async throws {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let ids = try await scene.extensible(3)
            try scene.list(ids)
            let path = try scene.write()
            try await scene.approve(path)
            let erasure = try await scene.stage.storeledger(
                "erase",
                scene.crawl,
                "--yes",
                "--transaction-id",
                ids[0]
            )
            #expect(erasure.code == 0, "\(erasure.errors)")
            _ = try await scene.send(path)
            try scene.expectEveryRowOnce(3)
            let row = try #require(try scene.results("unprocessed")[1])
            #expect(row["outcome"] == "cancelled" && row["original_transaction_id"] == "", "\(row)")
            #expect(try await scene.applied().compactMap(\.transactionId).sorted() == Array(ids.dropFirst()))
            let left = "SELECT count(*) FROM action_rows r WHERE r::text LIKE '%\(ids[0])%'"
            #expect(try await scene.stage.book().count(left) == 0)
        }
    }
}
