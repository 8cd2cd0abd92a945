import FoundationEssentials
import Postgres
import TestSupport
import Testing

/// `changedSince`: a night's sync that asks only for customers whom the app's notifications name.
@Suite(.migratedDatabase)
struct NightlyTests {
    private static let histories = [
        "transactionHistory: {}", "refundHistory: {for: revoked}",
        "notificationHistory: {scope: app, startDate: -179d}",
    ]

    /// A job over all customers, and the same job with `changedSince`.
    private static func jobs(_ stage: Stage) -> (all: JobText, changed: JobText) {
        var all = stage.job
        all.streams = histories
        var changed = all
        changed.transactionIds = "{changedSince: lastRun}"
        return (all, changed)
    }

    @Test func `a night's sync sends at most a tenth more than the pages that changed, and loads all of them`()
        async throws
    {
        try await Stage.with(.init(customers: 300, transactionsPerCustomer: 3)) { stage in
            var (all, following) = Self.jobs(stage)
            all.streams[1] = "refundHistory: {for: all}"
            following.streams[1] = "refundHistory: {for: all}"
            try await stage.run(try await stage.migrated(all))
            let before = try await stage.store.requests()
            #expect(before.count(of: "transactionHistory") >= 300)
            let pages = try await stage.store.pages(since: 0).count
            _ = try await stage.store.advance(changes: 20)

            try await stage.run(try stage.write(following))

            let book = try stage.book()
            expectNone(try await book.differences(from: stage.store.world()))
            let asked = try await stage.store.requests().arrivals.dropFirst(before.arrivals.count)
            // The simulator records what it served: one page with transactions for each changed customer, and no
            // other page with transactions.
            let changed = try await stage.store.pages(since: pages).count { page in
                page.records.contains { $0.kind == "transaction" }
            }
            #expect(changed > 10 && changed <= 20)
            for history in ["transactionHistory", "refundHistory"] {
                let sent = asked.count { $0.endpoint == history }
                #expect(sent >= changed && sent * 10 <= changed * 11, "\(history): \(sent) for \(changed)")
            }
            #expect(asked.count { $0.endpoint == "notificationHistory" } <= 2 + 20 / 20 + 1)
        }
    }

    @Test func `a changedSince job that is stopped repeatedly on two machines loads everything in one run`()
        async throws
    {
        try await Stage.with(.init(customers: 60, transactionsPerCustomer: 10)) { stage in
            let (all, changed) = Self.jobs(stage)
            try await stage.run(try await stage.migrated(all))
            _ = try await stage.store.advance(changes: 40)
            let job = try stage.write(changed)
            try await stage.store.setFaults(#"{"rules": [{"fault": "delay", "milliseconds": 150}]}"#)
            let arguments = ["run", job, "--progress", "none", "--concurrency", "1"]
            var codes: [Int32] = []
            for _ in 0..<3 {
                let before = try await stage.store.requests().total
                codes += try await stage.withStoreledger(arguments) { first in
                    try await stage.withStoreledger(arguments) { second in
                        try await stage.store.arrivals(before + 5) { first.hasEnded && second.hasEnded }
                        first.signal(9)
                        second.signal(15)
                        return [await first.wait(), await second.wait()]
                    }
                }
            }
            #expect(codes.contains(137) && codes.contains(75), "\(codes)")
            let book = try stage.book()
            try await book.endLeases()
            try await stage.store.setFaults(#"{"rules": []}"#)

            try await stage.run(job)

            expectNone(try await book.differences(from: stage.store.world()))
            #expect(try await book.count("SELECT count(*) FROM runs") == 2)
        }
    }

    @Test func `a changedSince job continues with the cursors of a job that listed every customer`() async throws {
        try await Stage.with(.init(customers: 60, transactionsPerCustomer: 30)) { stage in
            var (all, changed) = Self.jobs(stage)
            all.name = "everybody"
            try await stage.run(try await stage.migrated(all))
            _ = try await stage.store.advance(changes: 6)
            let before = try await stage.store.requests().count(of: "transactionHistory")

            try await stage.run(try stage.write(changed))

            let book = try stage.book()
            expectNone(try await book.differences(from: stage.store.world()))
            #expect(try await stage.store.requests().count(of: "transactionHistory") - before <= 7)
            #expect(
                try await book.count(
                    "SELECT max(page_count) FROM crawl_items WHERE job = 'nightly' AND stream <> 'notificationHistory'"
                ) == 1
            )
        }
    }

    @Test
    func `without a list, plan says that the customers are not known yet, and later how many the last night had`()
        async throws
    {
        try await Stage.with(.init(customers: 10)) { stage in
            let job = try await stage.migrated(Self.jobs(stage).changed)
            #expect(try await stage.storeledger("validate", job).code == 0)
            let first = try await stage.storeledger("plan", job)
            #expect(first.code == 0 && first.errorLines == [], "\(first)")
            let start = "nightly: the number of customers is not known yet: the first run reads the app's notific"
            #expect(first.output.hasPrefix(start), "\(first.output)")
            #expect(
                first.output.contains(
                    /\n  transactionHistory: at least one request for each customer \(1000 customers take at least [0-9.]+ s at Apple's limit/
                ),
                "\(first.output)"
            )
            #expect(
                first.output.contains(
                    "\n  refundHistory: at least one request for each customer with a revocation in their history (1000 of them take "
                ),
                "\(first.output)"
            )
            #expect(first.output.contains(/\n  notificationHistory: 1[0-9]+ items, at least 1[0-9]+ requests,/))
            #expect(first.output.hasSuffix("\n  together: not known before the notifications are read\n"))
            let json = try await stage.storeledger("plan", job, "--json").output
            #expect(json.contains("\"followsNotifications\" : true") && !json.contains("transactionIds\""), "\(json)")
            #expect(
                try await stage.storeledger("doctor", job).output.contains(
                    "no list: the customers come from the app's notifications, which Apple keeps for 180 days; to add customers "
                        + "without a notification, run a job with list, csv or query once\n"
                )
            )
            #expect(try await stage.store.requests().count(of: "transactionHistory") == 0)

            let run = try await stage.storeledger("run", job)

            #expect(run.code == 0 && run.errors.contains("no run has requested a customer yet"), "\(run.errors)")
            #expect(run.errors.contains("customers without a notification in that time are not found"), "\(run.errors)")
            #expect(run.output.contains(/customers +[1-9][0-9]* named by notifications\n/), "\(run.output)")
            #expect(run.errors.contains("notifications mention "))
            let next = try await stage.storeledger("plan", job, "--json")
            struct Plan: Decodable {
                let transactionIds: Int
            }
            let unchanged = try JSONDecoder().decode(Plan.self, from: Data(next.output.utf8)).transactionIds
            #expect(unchanged <= 1)
            let begin = unchanged == 0 ? "no customer has changed since the last run: " : "at least 1 customer, from "
            #expect(try await stage.storeledger("plan", job).output.hasPrefix("nightly: \(begin)"))
            #expect(next.output.contains("the last run read them until "))

            // The hint that a list is missing is repeated until a run has had one.
            let missing =
                /\n  customers: only those with a notification since 20\d\d-\d\d-\d\d; to add the others, run a job with/
            for command in ["status", "coverage"] {
                let said = try await stage.storeledger(command, job).output
                #expect(said.contains(missing), "\(command): \(said)")
                #expect(try await stage.storeledger(command, job, "--json").output.contains("\"customersSince\""))
            }

            #expect(run.output.contains(/missing +customers without a notification; to add them/), "\(run.output)")
            let warning = "Customers without a notification are not in the ledger"
            #expect(try await stage.storeledger("report", job, "--output", "-").output.contains(warning))

            // The number of customers that a night finds is the estimate for the next one.
            _ = try await stage.store.advance(changes: 6)
            let night = try await stage.storeledger("run", job)
            let named = try #require(night.output.firstMatch(of: /customers +([1-9][0-9]*) named/), "\(night.output)").1
            let later = try await stage.storeledger("plan", job).output
            let phrase = named == "1" ? "1 customer" : "\(named) customers"
            #expect(later.hasPrefix("nightly: at least \(phrase), from notifications\n"), "\(later)")
            #expect(later.contains("transactionHistory: \(named) items, at least \(named) requests"), "\(later)")
            let remark = "(estimated from the number that the last run found; a run reads new notifications first"
            #expect(later.contains(remark), "\(later)")

            // A list of one ID adds one customer, so the others are still missing.
            var (all, _) = Self.jobs(stage)
            var one = all
            one.name = "one"
            let id = try await stage.book().column("SELECT max(transaction_id) FROM transactions")[0]
            one.transactionIds = "list: [\"\(id)\"]"
            try await stage.run(try stage.write(one))
            for command in ["status", "coverage"] {
                let said = try await stage.storeledger(command, job).output
                let words =
                    " or in a list (the largest had 1 ID, fewer than notifications name); to add the others, run a"
                #expect(said.contains(words), "\(command): \(said)")
                #expect(try await stage.storeledger(command, job, "--json").output.contains(/"largestList" ?: ?1\b/))
            }
            #expect(try await stage.run(job).output.contains("who are in no list (the largest had 1 ID); to add them"))
            let doctor = try await stage.storeledger("doctor", job).output
            #expect(doctor.contains(/largest list of a run had 1 ID, but notifications named [0-9]+ customers: to add/))
            #expect(try await stage.storeledger("report", job, "--output", "-").output.contains("had only 1 ID."))

            all.name = "everybody"
            try await stage.run(try stage.write(all))
            try stage.write(Self.jobs(stage).changed)
            for command in ["status", "coverage"] {
                let said = try await stage.storeledger(command, job).output
                #expect(!said.contains("customers: "), "\(command): \(said)")
            }
            #expect(
                try await stage.storeledger("doctor", job).output.contains(
                    "the largest list of a run had 10 IDs; a customer who is neither in a list nor named by a notification would be missing\n"
                )
            )
            #expect(try await !stage.storeledger("report", job, "--output", "-").output.contains(warning))
        }
    }

    @Test func `a night with changedSince requests the statuses of the changed customers alone, and misses none`()
        async throws
    {
        try await Stage.with(.init(customers: 60, transactionsPerCustomer: 8)) { stage in
            var all = stage.job
            all.streams = ["subscriptionStatuses: {}", "notificationHistory: {scope: app, startDate: -179d}"]
            var following = all
            following.transactionIds = "{changedSince: lastRun}"
            let listed = try await stage.migrated(all)
            try await stage.run(listed)
            let first = try await stage.store.requests()
            #expect(first.count(of: "subscriptionStatuses") == 60)

            let changes = try await stage.store.advance(changes: 6)
            try await stage.run(try stage.write(following))

            let book = try stage.book()
            let owners = try await Self.customers(in: stage.store.world())
            let changed = Set(changes.compactMap { owners[$0.transactionId] })
            // Apple's history can lack a notification for an hour, so their customers are requested a second time.
            let recent = try await book.column(
                """
                SELECT DISTINCT n.app_transaction_id FROM notifications n JOIN runs r ON r.run_id = 1
                 WHERE n.signed_date BETWEEN r.frozen_now - interval '1 hour' AND r.frozen_now
                """
            )
            let sent = try await stage.store.requests().arrivals.dropFirst(first.arrivals.count)
            let asked = sent.filter { $0.endpoint == "subscriptionStatuses" }.compactMap(\.transactionId)
            #expect(changed.count > 2 && changed.union(recent).count < 20)
            #expect(asked.count == changed.union(recent).count)
            #expect(Set(asked.compactMap { owners[$0] }) == changed.union(recent))
            #expect(Set(sent.map(\.endpoint)) == ["subscriptionStatuses", "notificationHistory"])

            // Requesting the statuses of all customers gives the same result.
            let statuses =
                "SELECT (t.*)::text FROM (SELECT original_transaction_id, status, transaction_id FROM subscription_statuses) t ORDER BY 1"
            let known = try await book.column(statuses)
            try stage.write(all)
            try await stage.run(listed)
            #expect(try await stage.store.requests().count(of: "subscriptionStatuses") == 60 + asked.count + 60)
            #expect(try await book.column(statuses) == known)
        }
    }

    /// The customer of each transaction in the store's list.
    private static func customers(in world: String) throws -> [String: String] {
        struct Line: Decodable {
            struct Payload: Decodable { let appTransactionId: String? }
            let kind: String
            let key: String
            let payload: Payload
        }
        var customers: [String: String] = [:]
        for line in world.split(separator: "\n") {
            let record = try JSONDecoder().decode(Line.self, from: Data(line.utf8))
            if record.kind == "transaction" { customers[record.key] = record.payload.appTransactionId }
        }
        return customers
    }
}
