import AppStoreModel
import LedgerSchema
import Testing

@testable import Normalize
@testable import Postgres

/// The price tiers of seats, and answers about groups and seats.
struct SeatPriceTierTests {
    private let tiers = #"[{"price":9990,"quantity":3},{"price":4990,"quantity":2}]"#

    @Test func `each price tier of a transaction and of its renewal is a row with the record's currency`() throws {
        let world = try RecordWorld()
        let bought = try world.normalize(
            transactions: world.transaction(["currency": #""EUR""#, "multiSeatInfo": "{\"priceTiers\":\(tiers)}"])
        )
        let renewed = try world.normalize(
            anyKind: world.renewal(["currency": #""EUR""#, "multiSeatInfo": "{\"renewalPriceTiers\":\(tiers)}"])
        )
        for (rows, kind) in [(bought, "transaction"), (renewed, "renewal")] {
            let snapshot = try #require(rows.snapshots.first)
            let found = try #require(snapshot.children.first { $0.table == Tables.seatPriceTiers }).rows
            #expect(
                found == [
                    [.text(kind), .text(snapshot.key), .integer(0), .bigint(9_990), .integer(3), .text("EUR")],
                    [.text(kind), .text(snapshot.key), .integer(1), .bigint(4_990), .integer(2), .text("EUR")],
                ]
            )
        }
    }

    @Test func `GS5 the sandbox's placeholders are no group and no member`() throws {
        let world = try RecordWorld(.sandbox)
        let groups = world.normalize(
            .customerGroup(.init(groupId: GroupPlaceholder.group, groupType: "ORGANIZATION")),
            from: StreamName("customerGroups")
        )
        let members = world.normalize(
            .groupMember(appTransactionId: GroupPlaceholder.member),
            from: StreamName("groupMembers"),
            item: "9"
        )
        #expect(
            groups.answers.isEmpty && groups.rejected.isEmpty && members.answers.isEmpty && members.rejected.isEmpty
        )
    }

    @Test func `a group keeps its type and roles, and a group without an ID is rejected alone`() throws {
        let rows = try RecordWorld(.sandbox).normalize(
            .customerGroup(
                .init(groupId: "9", groupType: "ORGANIZATION", roles: [.init(productId: "p", role: "ADMIN")])
            ),
            .unusableAnswer("{}", reason: "groupId must be digits"),
            from: StreamName("customerGroups")
        )
        #expect(
            rows.answers.map(\.row) == [
                [.text("9"), .text("1"), .text("1"), .text("ORGANIZATION"), .textArray(["p"]), .textArray(["ADMIN"])]
            ]
        )
        #expect(rows.rejected.map(\.detail) == ["A record of customerGroups for 1: groupId must be digits."])
    }
}
