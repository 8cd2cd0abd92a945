import AppStoreModel
import Streams
import TestSupport
import Testing

@testable import Erasure
@testable import Ledger
@testable import LedgerSchema
@testable import Postgres

/// Groups, members and seats: rows of Apple's newest answers, and no others.
@Suite(.migratedDatabase)
struct GroupAnswerTests {
    private func group(_ id: String, of listed: String) -> Answer {
        Answer(
            .customerGroup,
            row: [.text(id), .text(listed), .text(listed), .text("CONSUMER"), .textArray([]), .textArray([])]
        )
    }

    private func member(_ id: String, of group: String) -> Answer {
        Answer(.groupMember, row: [.text(group), .text(id)])
    }

    private func seats(_ id: String, _ total: Int32, _ claims: String...) -> Answer {
        let rows = claims.map { [Cell.text($0), .text(id)] }
        return Answer(
            .seats,
            row: [.text(id), .integer(total), .integer(max(0, total - Int32(claims.count)))],
            children: [ChildRows(table: Tables.seatClaims, rows: rows)]
        )
    }

    private func write(
        _ world: TestLedger,
        _ answers: [Answer],
        asked seconds: Int64 = 0,
        run: Int64 = 1,
        listed: String? = nil,
        whole: RowOrigin.WholeAnswer? = nil,
        rejected: [RejectedRecord] = []
    ) async throws {
        var rows = PageRows()
        rows.answers = answers
        rows.rejected = rejected
        let origin = RowOrigin(
            app: world.app,
            job: "j",
            run: run,
            stream: .customerGroups,
            listedTransactionID: listed,
            readAt: Jobs.now + .seconds(seconds),
            wholeAnswer: whole
        )
        _ = try await world.ledger.write(rows, from: origin, mode: .fetched)
    }

    private let groups = "SELECT group_id, app_transaction_id FROM customer_groups ORDER BY 1, 2"
    private let members = "SELECT group_id, app_transaction_id FROM group_members ORDER BY 1, 2"

    private func know(_ transaction: String, appTransaction: String, listed: String, in world: TestLedger) async throws
    {
        try await world.run(
            """
            INSERT INTO transactions (app_id, transaction_id, original_transaction_id, app_transaction_id, listed_transaction_id,
                   signed_date, payload_sha256, payload)
            VALUES (\(world.app.rawValue), '\(transaction)', '\(transaction)', '\(appTransaction)', '\(listed)', now(), 'x', '{}')
            """
        )
    }

    @Test
    func `a group is stored under the app transaction as soon as the ledger knows it, and once for two listed IDs`()
        async throws
    {
        let world = try await TestLedger()
        try await write(world, [group("9", of: "1")], listed: "1", whole: .groupsOfCustomer)
        #expect(try await world.rows(groups) == ["(9,1)"])
        try await know("5", appTransaction: "70", listed: "1", in: world)
        try await write(world, [group("9", of: "1")], asked: 10, run: 2, listed: "1", whole: .groupsOfCustomer)
        try await write(world, [group("9", of: "5")], asked: 11, run: 2, listed: "5", whole: .groupsOfCustomer)
        #expect(try await world.rows(groups) == ["(9,70)"])
    }

    @Test
    func
        `groups stay when another page makes the customer's app transaction known between their writing and the removal`()
        async throws
    {
        let world = try await TestLedger()
        // What another session commits is visible to the next statement, and so is what a trigger writes.
        try await world.run(
            """
            CREATE FUNCTION add_app_transaction() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
                INSERT INTO transactions (app_id, transaction_id, original_transaction_id, app_transaction_id, listed_transaction_id,
                       signed_date, payload_sha256, payload)
                VALUES (\(world.app.rawValue), '1', '1', '70', '1', now(), 'x', '{}') ON CONFLICT DO NOTHING;
                RETURN NULL;
            END$$;
            CREATE TRIGGER add_app_transaction AFTER INSERT ON customer_groups FOR EACH STATEMENT EXECUTE FUNCTION add_app_transaction()
            """
        )
        try await write(world, [group("9", of: "1")], listed: "1", whole: .groupsOfCustomer)
        #expect(try await world.rows(groups) == ["(9,1)"])
        try await write(world, [group("9", of: "1")], asked: 10, run: 2, listed: "1", whole: .groupsOfCustomer)
        #expect(try await world.rows(groups) == ["(9,70)"])
    }

    @Test func `a group that a customer has left leaves the table, of no other customer`() async throws {
        let world = try await TestLedger()
        try await write(world, [group("8", of: "1"), group("9", of: "1")], listed: "1", whole: .groupsOfCustomer)
        try await write(world, [group("8", of: "2")], listed: "2", whole: .groupsOfCustomer)
        try await write(world, [group("9", of: "1")], asked: 10, listed: "1", whole: .groupsOfCustomer)
        #expect(try await world.rows(groups) == ["(8,2)", "(9,1)"])
        try await write(world, [], asked: 20, listed: "1", whole: .groupsOfCustomer)
        #expect(try await world.rows(groups) == ["(8,2)"])
    }

    @Test func `GS4 an answer with a rejected group removes no group`() async throws {
        let world = try await TestLedger()
        try await write(world, [group("8", of: "1"), group("9", of: "1")], listed: "1", whole: .groupsOfCustomer)
        let reject = RejectedRecord(reason: "unreadable", detail: "groupId must be digits.", raw: [1], sha256: [1])
        try await write(
            world,
            [group("8", of: "1")],
            asked: 10,
            listed: "1",
            whole: .groupsOfCustomer,
            rejected: [reject]
        )
        #expect(try await world.rows(groups) == ["(8,1)", "(9,1)"])
    }

    @Test
    func `a member on no page of a run leaves the table with the last page, unless another run has stored it since`()
        async throws
    {
        let world = try await TestLedger()
        try await write(world, [member("a", of: "9"), member("b", of: "9"), member("b", of: "8")])
        try await write(world, [member("a", of: "9")], asked: 100, run: 2)
        try await write(world, [member("c", of: "9")], asked: 95, run: 3)
        #expect(try await world.count("group_members") == 4)
        let whole = RowOrigin.WholeAnswer.membersOfGroup("9", since: Jobs.now + .seconds(90))
        try await write(world, [member("d", of: "9")], asked: 110, run: 2, whole: whole)
        #expect(try await world.rows(members) == ["(8,b)", "(9,a)", "(9,c)", "(9,d)"])
    }

    @Test func `a claim leaves with the next answer, and a smaller renewal can have more claims than seats`()
        async throws
    {
        let world = try await TestLedger()
        try await write(world, [seats("1", 5, "x", "y", "z")])
        try await write(world, [seats("1", 2, "x", "y", "w")], asked: 10)
        #expect(
            try await world.rows("SELECT total_seat_count, available_seat_count FROM seats") == ["(2,0)"]
        )
        #expect(try await world.rows("SELECT seat_claim_id FROM seat_claims ORDER BY 1") == ["(w)", "(x)", "(y)"])
    }

    @Test func `the later answers about an erased member are stored without the member`() async throws {
        let world = try await TestLedger()
        try await know("5", appTransaction: "700000001", listed: "5", in: world)
        try await write(world, [group("9", of: "5")], listed: "5", whole: .groupsOfCustomer)
        try await write(world, [member("700000001", of: "9"), member("700000002", of: "9")])
        _ = try await world.ledger.erase([.transaction("5")], in: [world.app])
        #expect(try await world.rows(members) == ["(9,700000002)"])
        #expect(try await world.count("customer_groups") == 0)
        try await write(world, [member("700000001", of: "9"), member("700000002", of: "9")], asked: 10)
        try await write(world, [group("9", of: "5")], asked: 10, listed: "5", whole: .groupsOfCustomer)
        #expect(try await world.rows(members) == ["(9,700000002)"])
        #expect(try await world.count("customer_groups") == 0)
    }
}
