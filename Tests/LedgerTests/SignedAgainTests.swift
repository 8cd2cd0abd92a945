import Ledger
import LedgerSchema
import Postgres
import Streams
import TestSupport
import Testing

/// Apple signs each answer when it is requested, so the same content arrives under newer and newer signatures.
@Suite(.migratedDatabase)
struct SignedAgainTests {
    private static let first: Int64 = 1_780_000_000_000

    /// A page with one transaction and its signed payload; `content` names what it says, `hash` its bytes.
    private func page(signed: Int64, hash: UInt8, content: UInt8, product: String = "gold") -> PageRows {
        var rows = PageRows(
            Rows.snapshot(
                Tables.transactions,
                "100001",
                signed: Self.first + signed,
                hash: hash,
                contentDigest: [UInt8](repeating: content, count: 32),
                cells: ["product_id": .text(product)]
            )
        )
        rows.archive = [
            Rows.archived(.transaction, "100001", signed: Self.first + signed, payload: "{\"n\":\(hash)}", hash: hash)
        ]
        return rows
    }

    private func versions(_ world: TestLedger) async throws -> [String] {
        try await world.rows(
            """
            SELECT 't' AS name, ctid, xmin FROM transactions UNION ALL SELECT 'p', ctid, xmin FROM signed_payloads ORDER BY 1, 2
            """
        )
    }

    @Test(arguments: TestLedger.Layout.allCases)
    func `a record that is only signed again leaves its row, its indexes and the archive as they are`(
        layout: TestLedger.Layout
    )
        async throws
    {
        let world = try await TestLedger(layout)
        var (items, holder) = try await world.leased(["1"])
        #expect(
            try await world.commit(page(signed: 1, hash: 1, content: 7), of: &items[0], for: holder)
                == RowCounts(new: 1)
        )
        let before = try await versions(world)
        for (signed, hash) in [(2, 2), (4, 4), (3, 3)] {
            let counts = try await world.commit(
                page(signed: Int64(signed), hash: UInt8(hash), content: 7),
                of: &items[0],
                for: holder
            )
            #expect(counts == RowCounts(unchanged: 1))
        }
        #expect(try await versions(world) == before)
        let kept = try await world.rows(
            """
            SELECT kind, record_key, (extract(epoch FROM signed_date) * 1000)::bigint - \(Self.first), encode(first_payload_sha256, 'hex') LIKE '0101%',
                   encode(payload_sha256, 'hex') LIKE '0404%', length(signature), payload IS NULL
              FROM latest_signatures
            """
        )
        #expect(kept == ["(transaction,100001,4,t,t,64,t)"])
    }

    @Test func `a snapshot with other content never wins over a content that was signed after it`() async throws {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1"])
        try await world.commit(page(signed: 1, hash: 1, content: 7), of: &items[0], for: holder)
        try await world.commit(page(signed: 3, hash: 3, content: 7), of: &items[0], for: holder)
        let late = page(signed: 2, hash: 2, content: 8, product: "late")
        #expect(try await world.commit(late, of: &items[0], for: holder) == RowCounts(unchanged: 1))
        #expect(try await world.rows("SELECT product_id FROM transactions") == ["(gold)"])
        // The archive keeps it all the same: it is something Apple signed.
        #expect(try await world.count("signed_payloads") == 2)
        let newer = page(signed: 4, hash: 4, content: 9, product: "newer")
        #expect(try await world.commit(newer, of: &items[0], for: holder) == RowCounts(updated: 1))
        #expect(try await world.rows("SELECT product_id FROM transactions") == ["(newer)"])
        // The first and the latest signature of the content that was replaced are still there.
        #expect(try await world.count("latest_signatures") == 1)
        #expect(try await world.count("signed_payloads") == 3)
    }

    @Test(arguments: TestLedger.Layout.allCases)
    func `a tie of signing dates has one winner in both orders, signed again or not`(layout: TestLedger.Layout)
        async throws
    {
        let world = try await TestLedger(layout)
        var (items, holder) = try await world.leased(["1"])
        let again = page(signed: 3, hash: 3, content: 7)
        let other = page(signed: 3, hash: 5, content: 8, product: "other")
        for order in [[again, other], [other, again]] {
            try await world.run("DELETE FROM transactions; DELETE FROM signed_payloads; DELETE FROM latest_signatures")
            try await world.commit(page(signed: 1, hash: 1, content: 7), of: &items[0], for: holder)
            for rows in order { try await world.commit(rows, of: &items[0], for: holder) }
            #expect(try await world.rows("SELECT product_id FROM transactions") == ["(other)"])
        }
    }

    @Test func `a refund that is only signed again leaves both of its rows and the archive as they are`() async throws {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1"])
        func refund(signed: Int64, hash: UInt8) -> PageRows {
            var rows = page(signed: signed, hash: hash, content: 7)
            rows.snapshots.append(
                Rows.snapshot(
                    Tables.refunds,
                    "100001",
                    signed: Self.first + signed,
                    hash: hash,
                    contentDigest: [UInt8](repeating: 7, count: 32)
                )
            )
            return rows
        }
        try await world.commit(page(signed: 1, hash: 1, content: 7), of: &items[0], for: holder)
        // The first answer of refund history makes the refund's row, and the archive proves it.
        try await world.commit(refund(signed: 2, hash: 2), of: &items[0], for: holder)
        #expect(try await world.count("signed_payloads") == 2)
        let before = try await versions(world)
        let refundBefore = try await world.rows("SELECT ctid, xmin FROM refunds")
        #expect(
            try await world.commit(refund(signed: 3, hash: 3), of: &items[0], for: holder) == RowCounts(unchanged: 1)
        )
        #expect(try await versions(world) == before)
        #expect(try await world.rows("SELECT ctid, xmin FROM refunds") == refundBefore)
        let latest = try await world.rows(
            "SELECT DISTINCT (extract(epoch FROM signed_date) * 1000)::bigint - \(Self.first) FROM latest_signatures"
        )
        #expect(latest == ["(3)"])
    }

    @Test(arguments: TestLedger.Layout.allCases)
    func `a history fills in the listed ID of a transaction that a notification brought, and changes nothing else`(
        layout: TestLedger.Layout
    )
        async throws
    {
        let world = try await TestLedger(layout)
        var (items, holder) = try await world.leased(["1"])
        let notified = RowOrigin(
            app: world.app,
            job: holder.job,
            run: holder.run,
            stream: .notificationHistory,
            listedTransactionID: nil
        )
        _ = try await world.ledger.write(
            page(signed: 1, hash: 1, content: 7),
            from: notified,
            mode: .fetched
        )
        let counts = try await world.commit(page(signed: 2, hash: 2, content: 7), of: &items[0], for: holder)
        #expect(counts == RowCounts(unchanged: 1))
        let row = "SELECT listed_transaction_id, source, content_hash IS NOT NULL FROM transactions"
        #expect(try await world.rows(row) == ["(1,notificationHistory,t)"])
        let before = try await versions(world)
        try await world.commit(page(signed: 3, hash: 3, content: 7), of: &items[0], for: holder)
        #expect(try await versions(world) == before)
        #expect(try await world.count("signed_payloads") == 1)
    }
}
