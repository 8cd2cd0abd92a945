import AppStoreModel
import Ledger
import LedgerSchema
import Postgres
import Streams
import TestSupport
import Testing

/// What proves the rows, and what is missing from them.
@Suite(.migratedDatabase)
struct EvidenceTests {
    private func origin(_ world: TestLedger, run: Int64 = 0) -> RowOrigin {
        RowOrigin(app: world.app, job: "nightly-sync", run: run, stream: .transactionHistory, listedTransactionID: nil)
    }

    @Test func `the archive keeps each payload once and each header once when records come again`() async throws {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1", "2"])
        let pages = [("10", "h1", UInt8(1)), ("10", "h1", 1), ("11", "h1", 2), ("10", "h2", 3), ("10", "h2", 1)]
        for (key, header, hash) in pages {
            var rows = PageRows()
            rows.archive = [Rows.archived(.transaction, key, payload: "{\(hash)}", header: header, hash: hash)]
            try await world.commit(rows, of: &items[0], for: holder)
            try await world.commit(rows, of: &items[1], for: holder)
        }
        #expect(try await world.rows("SELECT header FROM signing_headers ORDER BY 1") == ["(h1)", "(h2)"])
        let payloads = try await world.rows("SELECT convert_from(payload, 'UTF8') FROM signed_payloads ORDER BY 1")
        #expect(payloads == ["({1})", "({2})", "({3})"])
    }

    @Test func `a payload the archive has already is neither written nor locked again`() async throws {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1"])
        var rows = PageRows()
        rows.archive = [Rows.archived(.transaction, "10", payload: "{}")]
        try await world.commit(rows, of: &items[0], for: holder)
        let version = "SELECT ctid, xmin, xmax FROM signed_payloads"
        let before = try await world.rows(version)
        try await world.commit(rows, of: &items[0], for: holder)
        #expect(try await world.rows(version) == before)
    }

    @Test func `rows made again from the archive add nothing to it`() async throws {
        let world = try await TestLedger()
        var rows = PageRows(Rows.transaction("10"))
        rows.archive = [Rows.archived(.transaction, "10", payload: "{}")]
        #expect(try await world.ledger.write(rows, from: origin(world), mode: .replayedFromArchive).new == 1)
        #expect(try await world.count("signed_payloads") == 0)
        #expect(try await world.count("signing_headers") == 0)
    }

    @Test func `an app and a header stay as long as a record refers to them`() async throws {
        let world = try await TestLedger()
        var rows = PageRows(Rows.transaction("10"))
        rows.archive = [Rows.archived(.transaction, "10", payload: "{}")]
        _ = try await world.ledger.write(rows, from: origin(world))
        for statement in [
            "DELETE FROM signing_headers", "UPDATE signing_headers SET app_id = app_id", "TRUNCATE signing_headers",
            "DELETE FROM apps", "TRUNCATE apps CASCADE",
        ] {
            await #expect(throws: PostgresError.self, "\(statement)") { try await world.run(statement) }
        }
        try await world.run("DELETE FROM signed_payloads; DELETE FROM signing_headers")
        await #expect(throws: PostgresError.self) { try await world.run("DELETE FROM apps") }
        try await world.run("DELETE FROM transactions; DELETE FROM apps")
        #expect(try await world.count("apps") == 0)
    }

    @Test func `processes that meet a new header together number it once`() async throws {
        let world = try await TestLedger()
        let (items, holder) = try await world.leased((1...4).map(String.init))
        let ledgers = try items.map { _ in try world.anotherProcess() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (ledger, item) in zip(ledgers, items) {
                var rows = PageRows()
                rows.archive = [Rows.archived(.transaction, item.key, payload: "{}")]
                let page = world.page(rows, of: item, for: holder)
                group.addTask { _ = try await ledger.commit(page) }
            }
            try await group.waitForAll()
        }
        #expect(try await world.count("signing_headers") == 1)
        #expect(try await world.count("signed_payloads") == 4)
    }

    @Test func `what the archive gives back is what was signed, notifications with the JWS they quote included`()
        async throws
    {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1"])
        let header = String(repeating: "eyJ4NWMiOl", count: 400)
        let quoting = #"{"data":{"signedTransactionInfo":"\#(header).e30.AA","signedRenewalInfo":"\#(header).e30.BB"}}"#
        var rows = PageRows()
        rows.archive = [
            Rows.archived(.notification, "u1", payload: quoting, header: header, hash: 1),
            Rows.archived(.transaction, "10", payload: #"{"transactionId":"10"}"#, header: header, hash: 2),
            Rows.archived(.transaction, "11", payload: "{}", header: "other", hash: 3),
        ]
        try await world.commit(rows, of: &items[0], for: holder)
        let stored = try await world.value("SELECT octet_length(payload) FROM signed_payloads WHERE record_key = 'u1'")
        #expect(stored.flatMap(Int.init) ?? .max < 200)

        var back: [StoredPayload] = []
        var place: ArchivePlace?
        // The process that reads has seen no header yet.
        let reader = try world.anotherProcess()
        repeat {
            let batch = try await reader.archive(of: world.app, after: place, atMost: 2)
            back += batch.payloads
            place = batch.end
        } while place != nil
        #expect(back.map(\.recordKey) == ["u1", "10", "11"])
        for (read, written) in zip(back, rows.archive) {
            #expect(read.payload == written.payload && read.header == written.header)
            #expect(read.signature == written.signature && read.kind == written.kind && !read.isRefund)
        }
    }

    @Test func `a payload that refund history returned is known as such, in any order of the streams`() async throws {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1"])
        var rows = PageRows()
        rows.archive = [Rows.archived(.transaction, "10", payload: "{}")]
        try await world.commit(rows, of: &items[0], for: holder)
        let refund = RowOrigin(app: world.app, job: "j", run: 1, stream: .refundHistory, listedTransactionID: nil)
        for origin in [refund, origin(world)] {
            _ = try await world.ledger.write(rows, from: origin)
            let archived = try await world.ledger.archive(of: world.app, after: nil, atMost: 10)
            #expect(archived.payloads.map(\.isRefund) == [true])
        }
    }

    @Test func `unknown fields are counted and keep their first sample`() async throws {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1"])
        var rows = PageRows()
        rows.drift = [
            SchemaDrift(kind: .transaction, path: "a", sample: "1"),
            SchemaDrift(kind: .transaction, path: "a", sample: "2"),
            SchemaDrift(kind: .notification, path: "a", sample: "3"),
        ]
        try await world.commit(rows, of: &items[0], for: holder)
        try await world.commit(rows, of: &items[0], for: holder)
        let drift = try await world.rows("SELECT kind, path, sample, seen_count FROM schema_drift ORDER BY 1")
        #expect(drift == ["(notification,a,3,2)", "(transaction,a,1,4)"])
    }

    @Test func `unknown fields that StoreKit has say so`() async throws {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1"])
        var rows = PageRows()
        let paths = ["info.items[].seatPriceTiers", "bundleTransactionId", "priceTiers", "type=bundleProductId"]
        rows.drift = paths.map { SchemaDrift(kind: .transaction, path: $0, sample: "1") }
        try await world.commit(rows, of: &items[0], for: holder)
        let known = "SELECT path FROM schema_drift WHERE remark LIKE 'StoreKit 27 has this member.%' ORDER BY 1"
        #expect(try await world.rows(known) == ["(bundleTransactionId)", "(info.items[].seatPriceTiers)"])
    }

    static let issues =
        "SELECT record_key, path, found, extract(epoch FROM signed_date)::bigint FROM field_issues ORDER BY 1, 2"

    private func page(_ signed: Int64, _ found: [String: String]) -> PageRows {
        var rows = PageRows(Rows.transaction("10", signed: signed))
        rows.issues = found.map {
            FieldIssue(kind: .transaction, recordKey: "10", path: $0.key, found: $0.value, signedDate: signed)
        }
        return rows
    }

    @Test func `a field issue is stored with its snapshot and removed with it`() async throws {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1"])
        try await world.commit(page(2_000, ["price": "x", "type": "y"]), of: &items[0], for: holder)
        #expect(try await world.rows(Self.issues) == ["(10,price,x,2)", "(10,type,y,2)"])
        try await world.commit(page(3_000, ["price": "z"]), of: &items[0], for: holder)
        #expect(try await world.rows(Self.issues) == ["(10,price,z,3)"])
        // An older snapshot arrives late: its odd fields are history.
        try await world.commit(page(1_000, ["price": "w", "quantity": "v"]), of: &items[0], for: holder)
        #expect(try await world.rows(Self.issues) == ["(10,price,z,3)"])
        try await world.commit(page(4_000, [:]), of: &items[0], for: holder)
        #expect(try await world.rows(Self.issues) == [])
    }

    @Test func `odd fields of other records stay when one record changes`() async throws {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1"])
        var rows = page(1_000, ["price": "x"])
        for (kind, key) in [(RecordKind.transaction, "11"), (.renewalInfo, "10"), (.appTransaction, "10")] {
            rows.issues.append(FieldIssue(kind: kind, recordKey: key, path: "p", found: "q", signedDate: 1_000))
        }
        try await world.commit(rows, of: &items[0], for: holder)
        try await world.commit(page(2_000, [:]), of: &items[0], for: holder)
        #expect(try await world.count("field_issues") == 3)
    }

    @Test func `a rejected record is kept once and counted once a run`() async throws {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1", "2"])
        var rows = PageRows()
        rows.rejected = [
            Rows.rejected("a.b.c", hash: 2), Rows.rejected("a.b.c", hash: 2),
            Rows.rejected("a.b.c", reason: "bundle", hash: 2),
            Rows.rejected(String(repeating: "x", count: 70_000), hash: 1),
        ]
        for _ in 0..<2 {
            try await world.commit(rows, of: &items[0], for: holder)
            try await world.commit(rows, of: &items[1], for: holder)
        }
        let kept = "SELECT reason, seen_count, octet_length(raw), item_key FROM rejected_records ORDER BY 3, 1"
        let once = ["(bundle,1,5,1)", "(signature,1,5,1)", "(signature,1,70000,1)"]
        #expect(try await world.rows(kept) == once)
        _ = try await world.ledger.write(rows, from: origin(world, run: holder.run + 1))
        #expect(try await world.rows(kept) == once.map { $0.replacing(",1,", with: ",2,", maxReplacements: 1) })
    }

    @Test func `a replay that loads a rejected record resolves it in the same transaction`() async throws {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1"])
        var rows = PageRows()
        rows.rejected = [Rows.rejected("a.b.c", hash: 2), Rows.rejected("d.e.f", hash: 3)]
        try await world.commit(rows, of: &items[0], for: holder)
        let open = try await world.ledger.unresolvedRejects(of: world.app, after: 0, atMost: 10)
        #expect(open.map { String(decoding: $0.raw, as: UTF8.self) } == ["a.b.c", "d.e.f"])
        #expect(open.map(\.itemKey) == ["1", "1"])
        let loaded = PageRows(Rows.transaction("10"))
        let counts = try await world.ledger.write(loaded, from: origin(world), resolving: [open[0].recordID])
        #expect(counts == RowCounts(new: 1))
        let left = try await world.ledger.unresolvedRejects(of: world.app, after: 0, atMost: 10)
        #expect(left.map(\.recordID) == [open[1].recordID])
        // Met again, it is open again.
        try await world.commit(rows, of: &items[0], for: holder)
        #expect(try await world.ledger.unresolvedRejects(of: world.app, after: 0, atMost: 10).count == 2)
    }

    @Test(arguments: TestLedger.Layout.allCases)
    func `a replay brings in what a newer reading finds in the same snapshots`(layout: TestLedger.Layout) async throws {
        let world = try await TestLedger(layout)
        var (items, holder) = try await world.leased(["1"])
        let children = { (sku: String) in [Rows.items(of: "10", skus: [sku])] }
        var old = PageRows(
            Rows.transaction("10", product: "misread", children: children("misread")),
            Rows.transaction("11")
        )
        old.issues = [
            FieldIssue(kind: .transaction, recordKey: "10", path: "p", found: "odd", signedDate: Rows.signedDate)
        ]
        try await world.commit(old, of: &items[0], for: holder)
        let new = PageRows(Rows.transaction("10", product: "gold", children: children("a")), Rows.transaction("11"))
        #expect(try await world.ledger.write(new, from: origin(world)) == RowCounts(updated: 1, unchanged: 1))
        #expect(try await world.value("SELECT product_id FROM transactions WHERE transaction_id = '10'") == "gold")
        #expect(try await world.rows("SELECT sku FROM advanced_commerce_items") == ["(a)"])
        #expect(try await world.count("field_issues") == 0)
        let older = PageRows(Rows.transaction("10", signed: 1, hash: 9, product: "old", children: children("old")))
        #expect(try await world.ledger.write(older, from: origin(world)) == RowCounts(unchanged: 1))
        #expect(try await world.rows("SELECT sku FROM advanced_commerce_items") == ["(a)"])
    }

    /// An assignment made by hand.
    @Test(arguments: [
        "product_id = 'other'", "product_id = NULL", "price_milliunits = 1", "payload = '{\"a\": 1}'",
        "signed_date = signed_date - interval '1 second'", "product_id = 'other', content_hash = NULL",
        "signed_date = signed_date + interval '1 second'", "revocation_date = signed_date",
    ])
    func `a replay puts right what was changed by hand`(_ change: String) async throws {
        let world = try await TestLedger()
        let rows = PageRows(Rows.transaction("10"), Rows.transaction("11"))
        _ = try await world.ledger.write(rows, from: origin(world))
        let everything = """
            SELECT transaction_id, product_id, price_milliunits, payload, signed_date, revocation_date, content_hash
              FROM transactions ORDER BY 1
            """
        let written = try await world.rows(everything)
        try await world.run("UPDATE transactions SET \(change) WHERE transaction_id = '10'")
        #expect(try await world.value("SELECT count(*) FROM transactions WHERE content_hash IS NULL") == "1")
        #expect(try await world.ledger.write(rows, from: origin(world)) == RowCounts(updated: 1, unchanged: 1))
        #expect(try await world.rows(everything) == written)
    }

    @Test(arguments: TestLedger.Layout.allCases)
    func `a replay puts right what was changed by hand while triggers were not to fire`(layout: TestLedger.Layout)
        async throws
    {
        let world = try await TestLedger(layout)
        let rows = oneOfEach
        _ = try await world.ledger.write(rows, from: origin(world))
        for table in Tables.snapshots {
            try await world.run(
                "SET LOCAL session_replication_role = replica; UPDATE \(table.name) SET payload = '[]'"
            )
        }
        #expect(try await world.ledger.write(rows, from: origin(world)) == RowCounts(updated: 3))
        for table in Tables.snapshots { #expect(try await world.count("\(table.name) WHERE payload = '[]'") == 0) }
    }

    @Test(arguments: TestLedger.Layout.allCases)
    func `a row has one content hash, whether it is new or replaces an older one`(layout: TestLedger.Layout)
        async throws
    {
        let world = try await TestLedger(layout)
        let rows = oneOfEach
        let hashes = """
            SELECT 'transactions', transaction_id, content_hash FROM transactions
            UNION ALL SELECT 'refunds', transaction_id, content_hash FROM refunds
            UNION ALL SELECT 'renewals', original_transaction_id, content_hash FROM renewals
            UNION ALL SELECT 'notifications', notification_uuid, content_hash FROM notifications ORDER BY 1, 2
            """
        _ = try await world.ledger.write(rows, from: origin(world))
        let copied = try await world.rows(hashes)
        #expect(copied.count == rows.snapshots.count && !copied.contains { $0.hasSuffix(",)") })
        #expect(Set(copied.map { $0.split(separator: ",").last }).count == copied.count)
        for table in Tables.snapshots {
            try await world.run(
                "UPDATE \(table.name) SET signed_date = signed_date - interval '1 second', payload = '[]'"
            )
        }
        #expect(try await world.ledger.write(rows, from: origin(world), mode: .fetched).new == 0)
        #expect(try await world.rows(hashes) == copied)
    }

    @Test func `a replay compares rows without a content hash, and leaves alone those that are the same`() async throws
    {
        let world = try await TestLedger()
        let rows = oneOfEach
        _ = try await world.ledger.write(rows, from: origin(world))
        for table in Tables.snapshots { try await world.run("UPDATE \(table.name) SET content_hash = NULL") }
        let versions = try await world.rowVersions()
        #expect(try await world.ledger.write(rows, from: origin(world)) == RowCounts(unchanged: 3))
        #expect(try await world.rowVersions() == versions)
    }

    @Test(arguments: TestLedger.Layout.allCases)
    func `a replay brings rows back at its first attempt, though the archive has their payloads`(
        layout: TestLedger.Layout
    ) async throws {
        let world = try await TestLedger(layout)
        var rows = PageRows(Rows.snapshot(Tables.notifications, "uuid"))
        rows.archive = [Rows.archived(.notification, "uuid", payload: "{}")]
        _ = try await world.ledger.write(rows, from: origin(world))
        try await world.run("DELETE FROM notifications")
        // What a sequence gave stays given when the transaction is rolled back.
        try await world.run(
            """
            CREATE SEQUENCE attempts;
            CREATE FUNCTION count_attempt() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                PERFORM nextval('attempts'); RETURN NULL; END $$;
            CREATE TRIGGER c AFTER INSERT ON notifications FOR EACH STATEMENT EXECUTE FUNCTION count_attempt()
            """
        )
        #expect(try await world.ledger.write(rows, from: origin(world)) == RowCounts(new: 1))
        #expect(try await world.value("SELECT last_value FROM attempts") == "1")
        #expect(try await world.count("signed_payloads") == 1)
    }

    /// A snapshot of each table, without rows in others.
    private var oneOfEach: PageRows {
        PageRows(
            Rows.transaction("10"),
            Rows.snapshot(Tables.refunds, "10"),
            Rows.snapshot(Tables.renewals, "10"),
            Rows.snapshot(Tables.notifications, "uuid")
        )
    }
}
