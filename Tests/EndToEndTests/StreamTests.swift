import FoundationEssentials
import TestSupport
import Testing

/// What the settings of the three streams make a run ask for.
@Suite(.migratedDatabase)
struct StreamTests {
    private static let store = SimulatedStore.Options(customers: 25, transactionsPerCustomer: 15)

    @Test func `refunds for revoked asks only about customers who have a revocation`() async throws {
        try await Stage.with(Self.store) { stage in
            var job = stage.job
            job.streams[1] = "refundHistory: {for: revoked}"
            let path = try await stage.migrated(job)
            try await stage.run(path)

            let book = try stage.book()
            let revoked = try await Set(
                book.column("SELECT listed_transaction_id FROM transactions WHERE revocation_date IS NOT NULL")
            )
            let requests = try await stage.store.requests()
            let asked = Set(requests.arrivals.filter { $0.endpoint == "refundHistory" }.compactMap(\.transactionId))
            #expect(!revoked.isEmpty && revoked.count < 25)
            #expect(asked == revoked)
            expectNone(try await book.differences(from: stage.store.world()))
        }
    }

    @Test func `notifications for each transaction are about the listed customers`() async throws {
        try await Stage.with(Self.store) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}", "notificationHistory: {startDate: -100d}"]
            let path = try await stage.migrated(job)
            try await stage.run(path)

            let book = try stage.book()
            #expect(try await book.count("SELECT count(*) FROM crawl_items WHERE stream = 'notificationHistory'") == 25)
            #expect(try await stage.store.requests().count(of: "notificationHistory") >= 25)
            // Apple has notifications about no customer, which only the whole app's history shows.
            let differences = try await book.differences(from: stage.store.world())
            #expect(
                differences.filter { !$0.hasPrefix("notification") && !$0.hasPrefix("send") && !$0.hasPrefix("refund") }
                    == []
            )
            let present = try await book.count(
                "SELECT count(*) FROM notifications WHERE original_transaction_id IS NOT NULL"
            )
            #expect(present > 25)
            #expect(differences.count { $0.hasPrefix("notification") && !$0.hasSuffix("is missing") } == 0)

            let asked = try await stage.store.requests().total
            try await stage.run(path)
            #expect(try await stage.store.requests().total - asked == 50)
        }
    }

    @Test func `transaction info requests each listed transaction once per run`() async throws {
        try await Stage.with(Self.store) { stage in
            let list = try String(contentsOfFile: stage.store.directory + "/ids.csv", encoding: .utf8)
            let ids = list.split(separator: "\n").dropFirst().map(String.init)
            try stage.write(
                (["transaction_id"] + ids + ["999999999999"]).joined(separator: "\n") + "\n",
                to: "more.csv"
            )
            var job = stage.job
            job.streams = ["transactionInfo: {}"]
            job.transactionIds = "csv: {path: more.csv}"
            let path = try await stage.migrated(job)

            // Apple does not know one of them: it fails by itself.
            try await stage.run(path, expecting: 2)

            let book = try stage.book()
            let world = try await stage.store.world()
            let known = Set(ids.filter { world.contains(#""kind":"transaction","key":"\#($0)""#) })
            #expect(known.count > 10)
            #expect(try await Set(book.column("SELECT transaction_id FROM transactions")) == known)
            #expect(try await book.column("SELECT DISTINCT source FROM transactions") == ["transactionInfo"])
            #expect(
                try await Set(
                    book.column("SELECT item_key || ' ' || error_code FROM crawl_items WHERE state = 'failed'")
                )
                    == Set((ids.filter { !known.contains($0) } + ["999999999999"]).map { $0 + " 4040010" })
            )
            #expect(try await stage.store.requests().count(of: "transactionInfo") == ids.count + 1)

            let archived = "SELECT count(*) FROM signed_payloads"
            let before = try await book.count(archived)
            try await stage.run(path, expecting: 2)
            // Apple signs each answer when it is requested; the content is the same.
            #expect(try await stage.store.requests().count(of: "transactionInfo") == 2 * (ids.count + 1))
            #expect(try await book.count(archived) == before)
        }
    }

    @Test func `version 1 of both histories loads the same tables, and coverage says what it omits`() async throws {
        try await Stage.with(Self.store) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}", "refundHistory: {}"]
            job.schema = "everything"
            try await stage.run(try await stage.migrated(job))
            let book = try stage.book()
            // Version 1 of refund history takes only original transaction IDs.
            let originals = try await book.column(
                """
                SELECT min(original_transaction_id) FROM everything.transactions
                 WHERE in_app_ownership_type = 'PURCHASED' GROUP BY listed_transaction_id
                """
            )
            try stage.write((["transaction_id"] + originals).joined(separator: "\n") + "\n", to: "originals.csv")
            job.streams = ["transactionHistory: {version: 1}", "refundHistory: {version: 1}"]
            job.transactionIds = "csv: {path: originals.csv}"
            job.schema = "appstore"
            let path = try await stage.migrated(job)

            let outcome = try await stage.run(path)

            #expect(
                outcome.errors.contains(
                    "Apple has deprecated version 1 of Get Transaction History, which omits finished consumables"
                )
            )
            #expect(outcome.errors.contains("Apple has deprecated version 1 of Get Refund History"))
            let ofListed = """
                FROM everything.transactions e
                 WHERE e.listed_transaction_id IN (SELECT listed_transaction_id FROM everything.transactions
                                                    WHERE in_app_ownership_type = 'PURCHASED')
                """
            // Version 1 omits consumables that the app has finished and that were not revoked, and nothing else.
            let missing = try await book.column(
                """
                SELECT DISTINCT e.type || CASE WHEN e.revocation_date IS NULL THEN '' ELSE ' revoked' END
                  FROM (SELECT e.* \(ofListed)) e
                 WHERE NOT EXISTS (SELECT FROM transactions t WHERE t.transaction_id = e.transaction_id)
                """
            )
            #expect(missing == ["Consumable"])
            #expect(
                try await book.column(
                    "SELECT transaction_id FROM transactions EXCEPT SELECT transaction_id FROM everything.transactions"
                ) == []
            )
            let refunds = try await book.column("SELECT transaction_id FROM refunds ORDER BY 1")
            #expect(!refunds.isEmpty)
            #expect(
                try await refunds
                    == book.column(
                        """
                        SELECT transaction_id FROM everything.refunds
                         WHERE transaction_id IN (SELECT e.transaction_id \(ofListed)) ORDER BY 1
                        """
                    )
            )

            let coverage = try await stage.storeledger("coverage", path, "--all").output.split(separator: "\n")
            #expect(coverage.count == 2 * originals.count)
            for line in coverage {
                let omitted =
                    line.hasPrefix("refundHistory")
                    ? "; omits all but the 50 latest refunds of a customer" : "; omits finished consumables"
                #expect(line.hasSuffix(omitted), "\(line)")
            }

            // The history continues from its cursor; the refunds have none and are requested again.
            let asked = try await stage.store.requests().total
            try await stage.run(path)
            #expect(try await stage.store.requests().total - asked == 2 * originals.count)
            #expect(try await book.count("SELECT rows_new + rows_updated FROM runs WHERE run_id = 2") == 0)
        }
    }

    @Test func `D10 a changed filter begins the items again, and says so`() async throws {
        try await Stage.with(Self.store) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}"]
            let path = try await stage.migrated(job)
            try await stage.run(path)
            let asked = try await stage.store.requests().total

            job.streams = ["transactionHistory: {revoked: true}"]
            try stage.write(job)
            let outcome = try await stage.storeledger("run", path)

            #expect(outcome.code == 0)
            #expect(
                outcome.errors.contains(
                    "transactionHistory: the filters have changed; its items start again at the first page"
                )
            )
            let book = try stage.book()
            let revoked = try await book.count("SELECT count(*) FROM transactions WHERE revocation_date IS NOT NULL")
            #expect(try await book.count("SELECT rows_unchanged FROM runs WHERE run_id = 2") == revoked)
            #expect(try await book.count("SELECT rows_new + rows_updated FROM runs WHERE run_id = 2") == 0)
            #expect(try await stage.store.requests().total - asked == 25)
        }
    }

    @Test func `a descending history is crawled from the beginning in every run`() async throws {
        try await Stage.with(Self.store) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {sort: DESCENDING}"]
            let path = try await stage.migrated(job)
            try await stage.run(path)
            let first = try await stage.store.requests().total
            let book = try stage.book()
            #expect(try await book.column("SELECT item_key FROM crawl_items WHERE cursor IS NOT NULL") == [])

            try await stage.run(path)

            #expect(first > 25)
            #expect(try await stage.store.requests().total == 2 * first)
            #expect(
                try await book.count("SELECT rows_unchanged FROM runs WHERE run_id = 2")
                    == book.count("SELECT count(*) FROM transactions")
            )
        }
    }

    /// Each filter has a separate schema, and one schema has everything.
    @Test func `every filter of a history reaches Apple`() async throws {
        try await Stage.with(Self.store) { stage in
            try await Self.load("everything", ["transactionHistory: {}"], stage.job, stage)
            for (number, (filter, condition)) in [
                ("revoked: true", "t.revocation_date IS NOT NULL"),
                ("revoked: false", "t.revocation_date IS NULL"),
                ("productTypes: [AUTO_RENEWABLE]", "t.type = 'Auto-Renewable Subscription'"),
                ("productIds: [com.example.game.premium.monthly]", "t.product_id = 'com.example.game.premium.monthly'"),
                ("inAppOwnershipType: FAMILY_SHARED", "t.in_app_ownership_type = 'FAMILY_SHARED'"),
                ("subscriptionGroupIdentifiers: [\"21000001\"]", "t.subscription_group_identifier = '21000001'"),
                ("startDate: -100d", "t.purchase_date >= r.frozen_now - interval '100 days'"),
                ("endDate: -100d", "t.purchase_date < r.frozen_now - interval '100 days'"),
            ].enumerated() {
                let schema = "filter_\(number)"
                try await Self.load(schema, ["transactionHistory: {\(filter)}"], stage.job, stage)
                let book = try stage.book(schema: schema)
                let expected = """
                    SELECT t.transaction_id FROM everything.transactions t, crawl_items i, runs r
                     WHERE i.item_key = t.listed_transaction_id AND \(condition) ORDER BY 1
                    """
                let found = try await book.column("SELECT transaction_id FROM transactions ORDER BY 1")
                #expect(found == (try await book.column(expected)), "\(filter)")
                #expect(!found.isEmpty, "\(filter)")
                #expect(try await found.count < book.count("SELECT count(*) FROM everything.transactions"), "\(filter)")
            }
        }
    }

    /// Each filter has a separate schema, and one schema has everything.
    @Test func `every filter of notifications reaches Apple`() async throws {
        try await Stage.with(Self.store) { stage in
            var job = stage.job
            job.transactionIds = nil
            let stream = { (filter: String) in ["notificationHistory: {scope: app, startDate: -100d\(filter)}"] }
            try await Self.load("everything", stream(""), job, stage)
            for (number, (filter, condition)) in [
                (
                    "onlyFailures: true",
                    "EXISTS (SELECT FROM everything.notification_send_attempts a WHERE a.notification_uuid = n.notification_uuid) AND NOT EXISTS (SELECT FROM everything.notification_send_attempts a WHERE a.notification_uuid = n.notification_uuid AND a.send_attempt_result = 'SUCCESS')"
                ),
                ("notificationType: DID_RENEW", "n.notification_type = 'DID_RENEW'"),
                (
                    "notificationType: SUBSCRIBED, notificationSubtype: RESUBSCRIBE",
                    "n.notification_type = 'SUBSCRIBED' AND n.subtype = 'RESUBSCRIBE'"
                ),
            ].enumerated() {
                let schema = "filter_\(number)"
                try await Self.load(schema, stream(", " + filter), job, stage)
                let book = try stage.book(schema: schema)
                let expected = "SELECT notification_uuid FROM everything.notifications n WHERE \(condition) ORDER BY 1"
                let found = try await book.column("SELECT notification_uuid FROM notifications ORDER BY 1")
                #expect(found == (try await book.column(expected)), "\(filter)")
                #expect(!found.isEmpty, "\(filter)")
            }
        }
    }

    /// Runs a job with these streams, in a separate schema.
    private static func load(_ schema: String, _ streams: [String], _ job: JobText, _ stage: Stage) async throws {
        var job = job
        job.streams = streams
        job.schema = schema
        try await stage.run(try await stage.migrated(job))
    }
}
