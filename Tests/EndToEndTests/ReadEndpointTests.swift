import FoundationEssentials
import TestSupport
import Testing

/// The streams of Apple's other read endpoints, against the simulator.
@Suite(.migratedDatabase)
struct ReadEndpointTests {
    private static let store = SimulatedStore.Options(customers: 25, transactionsPerCustomer: 15)

    @Test func `ST6 every subscription gets Apple's status and both of its records, an ID without one an empty answer`()
        async throws
    {
        try await Stage.with(Self.store) { stage in
            var job = stage.job
            job.streams = ["subscriptionStatuses: {}"]
            let path = try await stage.migrated(job)
            try await stage.run(path)

            let book = try stage.book()
            #expect(try await stage.store.requests().count(of: "subscriptionStatuses") == 25)
            let statuses = try await book.count("SELECT count(*) FROM subscription_statuses")
            #expect(statuses > 0)
            #expect(
                try await book.count(
                    """
                    SELECT count(*) FROM subscription_statuses s
                      JOIN transactions t USING (app_id, transaction_id)
                      JOIN renewals r ON r.app_id = s.app_id AND r.original_transaction_id = s.original_transaction_id
                     WHERE t.original_transaction_id = s.original_transaction_id AND s.status BETWEEN 1 AND 5
                       AND t.subscription_group_identifier = s.subscription_group_identifier
                    """
                ) == statuses
            )
            #expect(try await book.column("SELECT DISTINCT state FROM crawl_items") == ["done"])

            // Another night: requested again, nothing is doubled.
            let archived = try await book.count("SELECT count(*) FROM signed_payloads")
            try await stage.run(path)
            #expect(try await book.count("SELECT count(*) FROM subscription_statuses") == statuses)
            #expect(try await book.count("SELECT count(*) FROM signed_payloads") == archived)

            // A replay restores the signed records; the statuses are not signed and stay.
            #expect(try await book.change("DELETE FROM renewals") == statuses)
            #expect(try await book.change("DELETE FROM transactions") > 0)
            #expect(try await stage.storeledger("replay", path).code == 0)
            #expect(try await book.count("SELECT count(*) FROM renewals") == statuses)
            #expect(try await book.count("SELECT count(*) FROM subscription_statuses") == statuses)
        }
    }

    @Test func `a filter of statuses brings only subscriptions with such a status`() async throws {
        try await Stage.with(Self.store) { stage in
            var job = stage.job
            job.streams = ["subscriptionStatuses: {status: [2, 5]}"]
            let path = try await stage.migrated(job)
            try await stage.run(path)
            let found = try await stage.book().column(
                "SELECT DISTINCT status::text FROM subscription_statuses ORDER BY 1"
            )
            #expect(!found.isEmpty && Set(found).isSubset(of: ["2", "5"]))
        }
    }

    @Test func `each customer has one app transaction, which its transactions name`() async throws {
        try await Stage.with(Self.store) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}", "appTransaction: {}"]
            let path = try await stage.migrated(job)
            // One customer has never bought anything, and so has no app transaction (4040019): an empty answer.
            try await stage.run(path)
            let book = try stage.book()
            #expect(try await stage.store.requests().count(of: "appTransaction") == 25)
            #expect(
                try await book.column("SELECT DISTINCT state FROM crawl_items WHERE stream = 'appTransaction'") == [
                    "done"
                ]
            )
            let status = try await stage.storeledger("status", path).output
            #expect(!status.contains("failed:") && !status.contains("unknown to Apple"), "\(status)")
            let found = try await Set(book.column("SELECT app_transaction_id FROM app_transactions"))
            #expect(found.count == 24)
            #expect(
                try await found.isSubset(of: book.column("SELECT DISTINCT app_transaction_id FROM transactions"))
            )

            // Apple signs each answer when it is requested; the content is the same.
            let archived = try await book.count("SELECT count(*) FROM signed_payloads")
            try await stage.run(path)
            #expect(try await book.count("SELECT rows_updated FROM runs WHERE run_id = 2") == 0)
            #expect(try await book.count("SELECT count(*) FROM signed_payloads") == archived)
        }
    }

    @Test func `ST7 orders from receipts have their transactions, and an invalid order is an answer`() async throws {
        try await Stage.with(Self.store) { stage in
            let orders = try String(contentsOfFile: stage.store.directory + "/orders.csv", encoding: .utf8)
            let known = Set(orders.split(separator: "\n").dropFirst().map(String.init))
            try stage.write(orders + "MNOTANORDER\n", to: "receipts.csv")
            var job = stage.job
            job.transactionIds = nil
            job.streams = ["orderLookup: {orderIds: {csv: {path: receipts.csv, column: order_id}}}"]
            let path = try await stage.migrated(job)
            try await stage.run(path)

            let book = try stage.book()
            #expect(try await stage.store.requests().count(of: "orderLookup") == known.count + 1)
            #expect(try await Set(book.column("SELECT order_id FROM orders WHERE status = 0")) == known)
            #expect(try await book.column("SELECT order_id FROM orders WHERE status = 1") == ["MNOTANORDER"])
            #expect(
                try await book.count(
                    "SELECT count(*) FROM order_transactions o JOIN transactions t USING (app_id, transaction_id)"
                ) == book.count("SELECT count(*) FROM transactions")
            )
            let plan = try await stage.storeledger("plan", path)
            #expect(plan.code == 0 && plan.output.contains("orderLookup"), "\(plan.output)")
        }
    }

    @Test(arguments: ["MK5 TVRJBTF", String(repeating: "M", count: 200)])
    func `ST2 an order ID that is none stops the run before anything is sent`(id: String) async throws {
        try await Stage.with(Self.store) { stage in
            try stage.write("order_id\n\(id)\n", to: "receipts.csv")
            var job = stage.job
            job.transactionIds = nil
            job.streams = ["orderLookup: {orderIds: {csv: {path: receipts.csv, column: order_id}}}"]
            let path = try await stage.migrated(job)
            let outcome = try await stage.storeledger("run", path)
            #expect(outcome.code == 65 && outcome.errors.contains("is not an order ID"), "\(outcome.errors)")
            job.streams = ["orderLookup: {orderIds: {query: SELECT '\(id)'}}"]
            let query = try await stage.storeledger("run", try stage.write(job))
            #expect(query.code == 65 && query.errors.contains("orderIds.query found"), "\(query.errors)")
            #expect(try await stage.store.requests().total == 0)
        }
    }

    @Test func `ST8 order lookup in a Sandbox job stops every command before anything is sent`() async throws {
        try await Stage.with(.init(customers: 2, appEnvironment: "Sandbox")) { stage in
            var job = stage.job
            job.transactionIds = nil
            job.streams = ["orderLookup: {orderIds: {list: [MK5TVRJBTF]}}"]
            let path = try stage.write(job)
            for command in ["validate", "plan", "run", "doctor"] {
                let outcome = try await stage.storeledger(command, path)
                #expect(outcome.code == 65, "\(command): \(outcome.errors)")
                #expect(
                    outcome.errors.contains("streams.orderLookup is not available in Sandbox"),
                    "\(command): \(outcome.errors)"
                )
            }
            #expect(try await stage.store.requests().total == 0)
        }
    }

    @Test func `an app transaction that only a replay accepts is found by an erasure of its listed ID`() async throws {
        try await Stage.with(.init(customers: 3)) { stage in
            var job = stage.job
            job.streams = ["appTransaction: {}"]
            let store = job.store
            job.store = store.replacing(/appAppleId: *[0-9]+/, with: "appAppleId: 999")
            #expect(try await stage.storeledger("run", try await stage.migrated(job)).code == 2)
            let book = try stage.book()
            #expect(try await book.column("SELECT DISTINCT reason FROM rejected_records") == ["app_id"])
            // The operator corrects the Apple ID, in the job file and in the ledger.
            job.store = store
            let path = try stage.write(job)
            let right = try #require(store.firstMatch(of: /appAppleId: *([0-9]+)/)).1
            #expect(try await book.change("UPDATE apps SET app_apple_id = \(right)") == 1)
            #expect(try await stage.storeledger("replay", path, "--rejected").code == 0)
            let loaded = try await book.count("SELECT count(*) FROM app_transactions")
            let items = try await book.column("SELECT item_key FROM rejected_records ORDER BY 1")
            #expect(loaded > 1 && items.count == loaded)
            let erased = try await stage.storeledger(
                "erase",
                path,
                "--yes",
                "--transaction-id",
                try #require(items.first)
            )
            #expect(erased.code == 0, "\(erased.errors)")
            for table in ["app_transactions", "signed_payloads", "rejected_records"] {
                #expect(try await book.count("SELECT count(*) FROM \(table)") == loaded - 1, "\(table)")
            }
        }
    }

    @Test func `doctor checks the list of orders`() async throws {
        try await Stage.with(.init(customers: 2)) { stage in
            var job = stage.job
            job.transactionIds = nil
            job.streams = ["orderLookup: {orderIds: {csv: {path: missing.csv, column: order_id}}}"]
            let path = try await stage.migrated(job)
            let doctor = try await stage.storeledger("doctor", path)
            #expect(doctor.code == 66, "\(doctor.output)")
            let failed = doctor.output.split(separator: "\n").filter { $0.hasPrefix("FAIL") }
            #expect(failed.count == 1 && failed.first?.contains("orderLookup") == true, "\(doctor.output)")
            #expect(try await stage.storeledger("run", path).code == doctor.code)
        }
    }

    @Test func `ST3 an app transaction ID given to transaction info fails by itself`() async throws {
        try await Stage.with(Self.store) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}"]
            let path = try await stage.migrated(job)
            try await stage.run(path)
            let book = try stage.book()
            let app = try await book.column("SELECT min(app_transaction_id) FROM transactions")[0]
            job.streams = ["transactionInfo: {}"]
            job.transactionIds = "list: [\"\(app)\"]"
            try stage.write(job)
            try await stage.run(path, expecting: 2)
            #expect(
                try await book.column("SELECT item_key || ' ' || error_code FROM crawl_items WHERE state = 'failed'")
                    == ["\(app) 4000048"]
            )
        }
    }
}
