import AppStoreModel
import LedgerSchema
import Planning
import Postgres
import Streams
import TestSupport
import Testing

@testable import Erasure
@testable import Ledger

/// Which customers an erasure removes and which it leaves, and what tombstones recognise.
@Suite(.migratedDatabase)
struct ErasureTests {
    private static let token: [UInt8] = Array(1...16)

    private func purchase(
        _ id: String,
        original: String? = nil,
        app: String? = nil,
        token: [UInt8]? = nil,
        ownership: String = "PURCHASED"
    ) -> Snapshot {
        Rows.snapshot(
            Tables.transactions,
            id,
            cells: [
                "original_transaction_id": .text(original ?? id), "app_transaction_id": app.map(Cell.text) ?? .null,
                "app_account_token": token.map(Cell.uuid) ?? .null,
                "in_app_ownership_type": .text(ownership),
            ]
        )
    }

    private func write(_ world: TestLedger, listed: String? = nil, _ snapshots: Snapshot...) async throws -> RowCounts {
        var rows = PageRows()
        rows.snapshots = snapshots
        let origin = RowOrigin(
            app: world.app,
            job: "j",
            run: 1,
            stream: .transactionHistory,
            listedTransactionID: listed
        )
        return try await world.ledger.write(rows, from: origin)
    }

    private func erase(_ world: TestLedger, _ id: String) async throws -> ErasureSummary {
        try await world.ledger.erase([.transaction(id)], in: [world.app])
    }

    @Test(arguments: TestLedger.Layout.allCases)
    func `a shared account token, Apple Account or listed ID makes one customer of several purchases (P4)`(
        layout: TestLedger.Layout
    )
        async throws
    {
        let world = try await TestLedger(layout)
        _ = try await write(
            world,
            purchase("100000000001", token: Self.token),
            purchase("100000000002", token: Self.token)
        )
        _ = try await write(world, purchase("100000000003", app: "704000000001", token: Self.token))
        _ = try await write(world, purchase("100000000004", app: "704000000001"))
        _ = try await write(world, listed: "100000000004", purchase("100000000005"))
        _ = try await write(world, listed: "100000000009", purchase("100000000009", app: "704000000009"))
        let erasure = try await erase(world, "100000000002")
        #expect(erasure.removed == [.init(table: "transactions", rows: 5)])
        #expect(try await world.rows("SELECT transaction_id FROM transactions") == ["(100000000009)"])
    }

    @Test(arguments: ["FAMILY_SHARED", "ASSIGNED"], [true, false])
    func `a member of a family or group is not erased with the one who paid, nor the other way round (P4)`(
        ownership: String,
        erasesBuyer: Bool
    ) async throws {
        let buyer = purchase("100000000001", app: "704000000001", token: Self.token)
        // The worst case: Apple gives family members separate originals, and no token.
        let member = purchase(
            "200000000002",
            original: "100000000001",
            app: "704000000002",
            token: Self.token,
            ownership: ownership
        )
        let world = try await TestLedger()
        _ = try await write(world, buyer, member)
        _ = try await erase(world, erasesBuyer ? "100000000001" : "200000000002")
        let stays = erasesBuyer ? "200000000002" : "100000000001"
        #expect(try await world.rows("SELECT transaction_id FROM transactions") == ["(\(stays))"])
        // Nor do tombstones take one for the other.
        #expect(try await write(world, buyer, member) == withheld(1, unchanged: 1))
    }

    @Test func `a later purchase on an erased Apple Account is withheld, and its IDs with it`() async throws {
        let world = try await TestLedger()
        _ = try await write(world, purchase("100000000001", app: "704000000001"))
        _ = try await erase(world, "100000000001")
        #expect(try await write(world, purchase("100000000002", app: "704000000001")) == withheld(1))
        #expect(try await write(world, purchase("100000000003", original: "100000000002")) == withheld(1))
        #expect(try await write(world, purchase("100000000004")) == RowCounts(new: 1))
        let start = try await world.begin("transactionHistory: {}", ids: ["100000000002", "100000000004"])
        #expect(start.withheldIDs == 1)
        #expect(try await world.rows("SELECT item_key FROM crawl_items") == ["(100000000004)"])
    }

    @Test func `an erased customer without records yet is withheld when records come`() async throws {
        let world = try await TestLedger()
        let erasure = try await erase(world, "100000000001")
        #expect(erasure == ErasureSummary(removed: [], tombstones: 1))
        #expect(try await erase(world, "100000000001") == ErasureSummary(removed: [], tombstones: 0))
        #expect(try await write(world, purchase("100000000002", original: "100000000001")) == withheld(1))
    }

    @Test func `the account token of zeros identifies no customer`() async throws {
        let world = try await TestLedger()
        let zeros = [UInt8](repeating: 0, count: 16)
        _ = try await write(world, purchase("100000000001", token: zeros), purchase("100000000002", token: zeros))
        _ = try await erase(world, "100000000001")
        #expect(try await world.rows("SELECT transaction_id FROM transactions") == ["(100000000002)"])
        #expect(try await write(world, purchase("100000000003", token: zeros)) == RowCounts(new: 1))
    }

    @Test func `a dry run counts what the erasure then removes, and removes nothing`() async throws {
        let world = try await TestLedger()
        _ = try await write(world, purchase("100000000001", token: Self.token))
        let before = try await world.rowVersions()
        let counted = try await world.ledger.erase([.transaction("100000000001")], in: [world.app], dryRun: true)
        #expect(try await world.rowVersions() == before)
        #expect(try await world.count("erasure_keys") == 0)
        #expect(try await erase(world, "100000000001") == counted)
    }

    private func withheld(_ count: Int, unchanged: Int = 0) -> RowCounts {
        var counts = RowCounts(unchanged: unchanged)
        counts.withheld = count
        return counts
    }
}
