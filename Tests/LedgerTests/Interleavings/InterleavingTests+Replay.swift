import Ledger
import LedgerSchema
import TestSupport
import Testing

extension InterleavingTests {
    @Test func `a replay and a page that is newer: child rows and odd fields are the newer one's`() async throws {
        let world = try await TestLedger()
        let (items, holder) = try await world.leased(["1"])
        let rows = { (signed: Int64, hash: UInt8, name: String) in
            // The newer one has no items that could be in the way of the older one's.
            let children = [Rows.items(of: "10", skus: name == "old" ? ["old"] : [])]
            var rows = PageRows(Rows.transaction("10", signed: signed, hash: hash, product: name, children: children))
            rows.issues = [
                FieldIssue(kind: .transaction, recordKey: "10", path: name, found: "x", signedDate: signed)
            ]
            return rows
        }
        let old = rows(1_000, 1, "old")
        let new = world.page(rows(2_000, 2, "new"), of: items[0], for: holder)
        let origin = new.origin
        let game = try await Interleaving(
            in: world,
            gates: [
                "BEFORE INSERT ON transactions", "BEFORE DELETE ON advanced_commerce_items",
                "BEFORE DELETE ON field_issues", "BEFORE UPDATE ON crawl_items",
            ],
            .init(name: "replay", gates: 3) { _ = try await $0.write(old, from: origin, mode: .replayedFromArchive) },
            .init(name: "page", gates: 4) { try await expectCommitted(new, by: $0) }
        )
        let played = try await game.playAll {
            try await world.run(
                """
                DELETE FROM transactions; DELETE FROM advanced_commerce_items; DELETE FROM field_issues;
                UPDATE crawl_items SET page_seq = 0
                """
            )
            _ = try await world.ledger.write(old, from: origin, mode: .replayedFromArchive)
        } check: { order in
            try await expect(["(new)"], of: "SELECT product_id FROM transactions", world, order)
            try await expect([], of: "SELECT sku FROM advanced_commerce_items", world, order)
            try await expect(["(new)"], of: "SELECT path FROM field_issues", world, order)
        }
        #expect(played == 126)
    }
}
