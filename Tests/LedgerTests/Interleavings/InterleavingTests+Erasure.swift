import AppStoreModel
import Erasure
import Ledger
import LedgerSchema
import Planning
import Postgres
import Streams
import Testing

/// An erasure concurrent with every other operation.
extension InterleavingTests {
    private static let erase = [
        "BEFORE INSERT ON erased_marks", "BEFORE DELETE ON transactions", "AFTER UPDATE ON runs",
    ]

    /// What the erased customer's IDs begin with, and nothing else in these ledgers.
    private static let customer = "10000000000"

    private static func purchase(_ id: String, of original: String) -> Snapshot {
        Rows.snapshot(Tables.transactions, id, cells: ["original_transaction_id": .text(original)])
    }

    /// A page with a renewal of the customer, everything that is kept of it and a text that quotes it, and another
    /// customer's purchase.
    private static func mixedPage() -> PageRows {
        var rows = PageRows(
            purchase("100000000002", of: "100000000001"),
            purchase("200000000002", of: "200000000002")
        )
        for id in ["100000000002", "200000000002"] {
            rows.archive.append(Rows.archived(.transaction, id, payload: "{\"transactionId\":\"\(id)\"}"))
            rows.issues.append(
                FieldIssue(kind: .transaction, recordKey: id, path: "price", found: "x", signedDate: Rows.signedDate)
            )
        }
        rows.rejected = [Rows.rejected("not believed: 100000000002"), Rows.rejected("not believed at all", hash: 2)]
        return rows
    }

    /// Tables in which the customer's IDs are, as text or as bytes.
    private func traces(_ world: TestLedger) async throws -> [String] {
        let tables = try await world.rows(
            """
            SELECT relname FROM pg_class
             WHERE relnamespace = 'appstore'::regnamespace AND relkind = 'r' AND pg_relation_size(oid) > 0
            """
        ).map { String($0.dropFirst().dropLast()) }
        let quotes =
            "position('\(Self.customer)' IN t::text) > 0 OR position(encode('\(Self.customer)', 'hex') IN t::text) > 0"
        return try await world.rows(
            tables.map { "SELECT '\($0)' FROM appstore.\($0) t WHERE \(quotes)" }.joined(separator: " UNION ALL ")
        )
    }

    @Test(arguments: ["somebody else's", "the customer's own"], [true, false])
    func `an erasure and a page: nothing of the customer stays, in any order (P2)`(
        item: String,
        isFirstErasure: Bool
    ) async throws {
        let world = try await TestLedger()
        let isOwn = item == "the customer's own"
        let (items, holder) = try await world.leased([isOwn ? "100000000001" : "300000000003"])
        let (app, customer) = (world.app, try #require(TransactionID("100000000001")))
        // Records that came with one listed ID are one customer's; these came with none.
        let origin = RowOrigin(
            app: app,
            job: holder.job,
            run: holder.run,
            stream: .transactionHistory,
            listedTransactionID: nil
        )
        let page = PageCommit(
            item: items[0],
            holder: holder,
            rows: Self.mixedPage(),
            origin: origin,
            cursor: "C1",
            isLast: false,
            completeUntil: nil,
            requests: 1
        )
        try await world.run("CREATE TABLE public.item AS SELECT * FROM crawl_items")
        if !isFirstErasure {
            let somebody = try #require(TransactionID("400000000004"))
            _ = try await world.ledger.erase([.transaction(somebody)], in: [app])
        }
        let game = try await Interleaving(
            in: world,
            gates: Self.erase + ["BEFORE INSERT ON transactions", "AFTER UPDATE ON crawl_items"],
            .init(name: "erase", gates: 3) { _ = try await $0.erase([.transaction(customer)], in: [app]) },
            // A page that meets tombstones adds the tombstones of the renewal, which is a gate more.
            .init(name: "page", gates: 3) { ledger in
                let counts = try await ledger.commit(page)
                #expect(isOwn || counts != nil)
            }
        )
        let played = try await game.playAll {
            try await world.run(
                """
                DELETE FROM transactions; DELETE FROM signed_payloads; DELETE FROM rejected_records; DELETE FROM field_issues;
                DELETE FROM erased_marks; \(isFirstErasure ? "DELETE FROM erasure_keys;" : "")
                DELETE FROM crawl_items; INSERT INTO crawl_items SELECT * FROM public.item
                """
            )
            let known = PageRows(Self.purchase("100000000001", of: "100000000001"))
            _ = try await world.ledger.write(known, from: origin)
        } check: { order in
            #expect(try await traces(world) == [], "\(order)")
            let isLoaded = try await world.count("transactions") > 0
            // A page of the customer's own item may lose it to the erasure, and with it what else is on it.
            #expect(isLoaded || isOwn, "\(order)")
            let rest = isLoaded ? ["(200000000002)"] : []
            try await expect(rest, of: "SELECT transaction_id FROM transactions", world, order)
            try await expect(rest, of: "SELECT record_key FROM signed_payloads", world, order)
            try await expect(rest, of: "SELECT record_key FROM field_issues", world, order)
            if !isOwn {
                try await expect(["(1)"], of: "SELECT page_seq FROM crawl_items", world, order)
                try await expect(["(2)"], of: "SELECT count(*) FROM erased_marks", world, order)
                try await expect(
                    ["(\"not believed at all\")"],
                    of: "SELECT convert_from(raw, 'UTF8') FROM rejected_records",
                    world,
                    order
                )
            }
        }
        #expect(played == 70)
    }

    @Test func `an erasure and a plan that lists the customer: no item is left to ask for`() async throws {
        let world = try await TestLedger()
        let job = try await Jobs.load(streams: "transactionHistory: {}")
        let plan = world.plan(job)
        let (app, customer) = (world.app, try #require(TransactionID("100000000001")))
        let other = try #require(TransactionID("200000000002"))
        let game = try await Interleaving(
            in: world,
            gates: [
                "BEFORE INSERT ON erased_marks", "AFTER DELETE ON crawl_items", "BEFORE INSERT ON crawl_items",
                "AFTER INSERT ON crawl_items",
            ],
            .init(name: "erase", gates: 2) { _ = try await $0.erase([.transaction(customer)], in: [app]) },
            .init(name: "plan", gates: 2) {
                _ = try await $0.beginOrJoin(plan, ids: .feed { try $0([customer.text, other.text]) })
            }
        )
        let played = try await game.playAll {
            try await world.run(
                "DELETE FROM crawl_items; DELETE FROM runs; DELETE FROM erased_marks; DELETE FROM erasure_keys"
            )
        } check: { order in
            try await expect(["(200000000002)"], of: "SELECT item_key FROM crawl_items", world, order)
        }
        #expect(played == 20)
    }

    @Test func `an erasure and the same erasure: both end well, and leave one set of tombstones`() async throws {
        let world = try await TestLedger()
        let (app, customer) = (world.app, try #require(TransactionID("100000000001")))
        let origin = RowOrigin(app: app, job: "j", run: 1, stream: .transactionHistory, listedTransactionID: nil)
        let erase: @Sendable (Ledger) async throws -> Void = {
            _ = try await $0.erase([.transaction(customer)], in: [app])
        }
        let game = try await Interleaving(
            in: world,
            gates: Self.erase,
            .init(name: "a", gates: 3, run: erase),
            .init(name: "b", gates: 3, run: erase)
        )
        let played = try await game.playAll {
            try await world.run("DELETE FROM erased_marks; DELETE FROM erasure_keys")
            _ = try await world.ledger.write(PageRows(Rows.transaction("100000000001")), from: origin)
        } check: { order in
            try await expect(["(0)"], of: "SELECT count(*) FROM transactions", world, order)
            try await expect(["(1)"], of: "SELECT count(*) FROM erased_marks", world, order)
        }
        #expect(played == 70)
    }
}
