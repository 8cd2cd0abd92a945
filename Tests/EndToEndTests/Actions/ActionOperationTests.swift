import FoundationEssentials
import TestSupport
import Testing

/// `doctor`, `jobs` and the report for jobs with an action.
@Suite(.migratedDatabase)
struct ActionOperationTests {
    @Test func `doctor finds what actions run refuses, and a missing input`() async throws {
        try await ActionScene.with(.init(customers: 20)) { scene in
            let path = try scene.write()
            func doctor(expecting code: Int32, _ lines: String...) async throws {
                let outcome = try await scene.stage.storeledger("doctor", path)
                #expect(outcome.code == code, "\(outcome)")
                for line in lines { #expect(outcome.output.contains(line), "\(line) in \(outcome.output)") }
            }
            let file = scene.stage.store.directory + "/affected.csv"
            try await doctor(
                expecting: 66,
                "FAIL  input: \(file): there is no such file. Nothing was planned",
                "FAIL  batch: extend-after-outage has no planned batch; run: storeledger actions plan \(path)",
                "ok    role: ",
                "ok    Apple: "
            )
            try scene.list(try await scene.extensible(2) + ["x"])
            let plan = try await scene.plan(path)
            try await doctor(
                expecting: 78,
                "ok    input: \(file) has 3 rows, 1 of them invalid",
                "FAIL  batch: batch \(plan.batch) is not approved; nothing was sent."
            )
            try await scene.approve(path)
            try await doctor(expecting: 0, "ok    batch: \(plan.batch) can be sent")
            _ = try await scene.send(path)
            try await doctor(expecting: 0, "ok    batch: every batch was sent")
        }
    }

    @Test func `doctor has PostgreSQL check the query of the input and of the consents`() async throws {
        try await ActionScene.with(.init(customers: 5)) { scene in
            var job = ActionScene.Job()
            job.input = "query: SELECT 1 AS transaction_id"
            let first = try await scene.stage.storeledger("doctor", try scene.write(job))
            #expect(
                first.output.contains(
                    "FAIL  query: input.query: there is no column \"original_transaction_id\"; the header has \"transaction_id\"."
                ),
                "\(first.output)"
            )
            let consents = ConsumptionPolicyTests.job(consent: "{query: SELECT 1 AS x}")
            let second = try await scene.stage.storeledger("doctor", try scene.write(consents))
            #expect(
                second.output.contains("FAIL  query: customerConsented.query must have one column"),
                "\(second.output)"
            )
        }
    }

    @Test func `jobs lists a job with an action, and remove cancels what was not sent and keeps what was`() async throws
    {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let ids = try await scene.extensible(4)
            try scene.list(Array(ids.prefix(2)))
            let path = try scene.write()
            try await scene.approve(path)
            _ = try await scene.send(path)
            try scene.list(ids)
            try await scene.approve(path)
            func jobs() async throws -> [String] {
                struct Job: Decodable {
                    let job, state: String
                    let action: String?
                    let lastRun: Int?
                }
                let outcome = try await scene.stage.storeledger("jobs", "list", "--json")
                return try JSONDecoder().decode([Job].self, from: Data(outcome.output.utf8))
                    .map { "\($0.job) \($0.action ?? "crawl") \($0.state) \($0.lastRun.map(String.init) ?? "-")" }
            }
            #expect(
                try await jobs() == ["extend-after-outage extendRenewalDate unfinished -", "nightly crawl finished 1"]
            )
            let removed = try await scene.stage.storeledger("jobs", "remove", "extend-after-outage")
            #expect(removed.code == 0, "\(removed.errors)")
            #expect(
                removed.output
                    == "extend-after-outage: removed from com.example.game (Production); what it sent is kept\n"
            )
            #expect(try await jobs() == ["nightly crawl finished 1"])
            let book = try scene.stage.book()
            let states = "SELECT state || ' ' || count(*) FROM action_rows GROUP BY state ORDER BY 1"
            #expect(try await book.column(states) == ["cancelled 2", "skipped 2", "succeeded 2"])
            #expect(try await book.count("SELECT count(*) FROM action_batches WHERE approved_at IS NOT NULL") == 2)
            #expect(try await book.count("SELECT count(*) FROM action_attempts") >= 2)
            _ = try await scene.send(path, expecting: 78)
            #expect(try await scene.applied().count == 2)
            // A later job of the name knows what was sent.
            let again = try await scene.plan(path)
            #expect(again.rowsToSend == 2 && again.rules.map(\.rule) == ["same_as_batch"])
            #expect(try await scene.stage.storeledger("jobs", "remove", "nothing").code == 65)
        }
    }

    @Test func `the report shows batches and open refund requests`() async throws {
        try await ActionScene.with(.init(customers: 40)) { scene in
            _ = try await scene.stage.store.advance(refundRequests: 5)
            try await scene.stage.run(scene.crawl)
            try scene.list(try await scene.extensible(3))
            let path = try scene.write()
            let plan = try await scene.approve(path)
            _ = try await scene.send(path)
            try await scene.stage.run(scene.crawl)
            let file = scene.stage.directory + "/report.html"
            let outcome = try await scene.stage.storeledger("report", scene.crawl, "--output", file)
            try #require(outcome.code == 0, "\(outcome.errors)")
            let page = try String(contentsOfFile: file, encoding: .utf8)
            let batches = try #require(table("action-batches", in: page))
            #expect(batches.contains(plan.batch.prefix(12)) && batches.contains("extendRenewalDate"))
            #expect(batches.ranges(of: "3 <span class=\"share\">100.0%</span>").count == 2, "\(batches)")
            let requests = try #require(table("open-refund-requests", in: page))
            #expect(requests.contains("no answer"), "\(requests)")
        }
    }

    private func table(_ name: String, in page: String) -> String? {
        guard let start = page.firstRange(of: "<table id=\"table-\(name)\""),
            let end = page[start.upperBound...].firstRange(of: "</table>")
        else { return nil }
        return String(page[start.lowerBound..<end.upperBound])
    }

    @Test func `the actor rehearses, plans, sends and removes, the approver approves, and no role does another's`()
        async throws
    {
        try await ActionScene.with(.init(customers: 40)) { scene in
            try await LedgerRoles.with { roles in
                try await roles.apply()
                _ = try await scene.stage.store.advance(refundRequests: 20)
                try await scene.stage.run(scene.crawl)
                let path = try scene.write(ConsumptionPolicyTests.job())
                func expect(_ word: String, _ code: Int32, _ arguments: String...) async throws {
                    let environment = ["DATABASE_URL": scene.stage.databaseURL(role: roles.name(word))]
                    try await scene.stage.withStoreledger(arguments, environment: environment) { process in
                        #expect(await process.wait() == code, "\(word) \(arguments): \(process.errors)")
                    }
                }
                try await expect("actor", 0, "actions", "rehearse", path)
                try await expect("loader", 77, "actions", "plan", path)
                try await expect("actor", 0, "actions", "plan", path)
                let book = try scene.stage.book()
                let batch = try await book.column("SELECT rows_sha256 || ' ' || rows_to_send FROM action_batches")[0]
                let words = batch.split(separator: " ").map(String.init)
                let approval = ["--batch", words[0], "--rows", words[1]]
                try await expect(
                    "actor",
                    77,
                    "actions",
                    "approve",
                    path,
                    approval[0],
                    approval[1],
                    approval[2],
                    approval[3]
                )
                try await expect("actor", 78, "doctor", path)
                try await expect(
                    "approver",
                    0,
                    "actions",
                    "approve",
                    path,
                    approval[0],
                    approval[1],
                    approval[2],
                    approval[3]
                )
                try await expect("actor", 0, "doctor", path)
                try await expect("loader", 77, "doctor", path)
                try await expect("loader", 77, "actions", "run", path)
                try await expect("actor", 0, "actions", "run", path)
                try await expect("actor", 0, "jobs")
                try await expect("loader", 0, "jobs")
                try await expect("loader", 77, "jobs", "remove", "answers")
                try await expect("actor", 0, "jobs", "remove", "answers")
            }
        }
    }
}
