import FoundationEssentials
import JobFiles
import Ledger
import LedgerSchema
import Publish
import TestSupport
import Testing

/// A publication concurrent with every other operation.
extension InterleavingTests {
    /// A page that brings a newer snapshot of a transaction, a new one, and rows of two more tables.
    private static func secondPage() -> PageRows {
        var rows = PageRows(
            Rows.transaction(
                "100001",
                signed: Rows.signedDate + 1,
                product: "new",
                children: [Rows.items(of: "100001", skus: ["b", "c"])]
            ),
            Rows.transaction("100002", product: "new"),
            Rows.snapshot(Tables.notifications, "uuid-2")
        )
        rows.sendAttempts = [Rows.attempt("uuid-2", 1_000, "SUCCESS")]
        return rows
    }

    private static func files(_ directory: String, of manifest: Manifest) throws -> [String] {
        try manifest.files.map { file in
            String(decoding: try Data(contentsOf: URL(filePath: "\(directory)/\(file.file)")), as: UTF8.self)
        }
    }

    @Test func `an export and a page: all files show the ledger without the page, or all show it with the page`()
        async throws
    {
        let world = try await TestLedger()
        let (items, holder) = try await world.leased(["1"])
        let page = world.page(Self.secondPage(), of: items[0], for: holder)
        try await world.run("CREATE TABLE public.item AS SELECT * FROM crawl_items")
        let app = world.app
        let doors = ["door_1", "door_2", "door_3"]
        let tables = [
            "door_1", "transactions", "door_2", "notifications", "notification_send_attempts", "door_3",
            "advanced_commerce_items",
        ]
        try await withTemporaryDirectory { directory in
            let publish: @Sendable (Ledger, String) async throws -> [String] = { ledger, name in
                let path = "\(directory)/\(name)"
                let files = FileOutput(.csv, directory: path, tables: tables)
                let order = PublishOrder(files, job: "nightly-sync", run: nil, trustedRoots: [])
                return try Self.files(path, of: try await ledger.publish(order, of: app))
            }
            let (before, during) = (Answer<[String]>(), Answer<[String]>())
            let game = try await Interleaving(
                in: world,
                gates: [
                    "BEFORE INSERT ON transactions", "BEFORE INSERT ON notifications", "AFTER UPDATE ON crawl_items",
                ],
                .init(name: "export", gates: 3, doors: doors) { during.keep(try await publish($0, "during")) },
                .init(name: "page", gates: 3) { try await expectCommitted(page, by: $0) }
            )
            let played = try await game.playAll {
                try await world.run(
                    """
                    DELETE FROM transactions; DELETE FROM notifications; DELETE FROM notification_send_attempts;
                    DELETE FROM advanced_commerce_items;
                    DELETE FROM crawl_items; INSERT INTO crawl_items SELECT * FROM public.item
                    """
                )
                let old = Rows.transaction("100001", product: "old", children: [Rows.items(of: "100001", skus: ["a"])])
                _ = try await world.ledger.write(
                    PageRows(old, Rows.snapshot(Tables.notifications, "uuid-1")),
                    from: page.origin
                )
                before.keep(try await publish(world.ledger, "before"))
            } check: { order in
                let after = try await publish(world.ledger, "after")
                #expect(before.value != after)
                let isPageFirst = order.hasPrefix("page page page page ")
                #expect(during.value == (isPageFirst ? after : before.value), "\(order)")
            }
            #expect(played == 70)
        }
    }
}
