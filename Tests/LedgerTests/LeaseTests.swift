import AppStoreModel
import Ledger
import LedgerSchema
import Planning
import Postgres
import Streams
import TestSupport
import Testing

@Suite(.migratedDatabase)
struct LeaseTests {
    /// Makes every lease look as if its holder had died a while ago.
    private func expire(_ world: TestLedger) async throws {
        try await world.run("UPDATE crawl_items SET claimable_at = now() - interval '1 second' WHERE state = 'leased'")
    }

    private func leaves(_ outcome: ItemOutcome, _ expected: String) async throws {
        let world = try await TestLedger()
        let (items, holder) = try await world.leased(["1"])
        try await world.run("UPDATE crawl_items SET cursor = 'R'")
        #expect(try await world.record(outcome, of: items[0], requests: 5, for: holder))
        let row = try await world.rows(
            """
            SELECT state, cursor, restarts, deferrals, other_environment, lease_owner, error_code, error_message, request_count
              FROM crawl_items
            """
        )
        #expect(row == [expected])
    }

    @Test func `the items of a dead worker are taken over before items that no worker has begun`() async throws {
        let world = try await TestLedger()
        let plan = world.plan(try await Jobs.load(streams: "transactionHistory: {}"))
        let start = try await world.ledger.beginOrJoin(plan, ids: .query("SELECT generate_series(1, 300)"))
        let dead = try await world.ledger.lease(.transactionHistory, atMost: 3, for: world.holder(of: start.run))
        guard case .items(let lost) = dead else { return #expect(Bool(false), "nothing was leased") }
        try await world.run("UPDATE crawl_items SET claimable_at = clock_timestamp() WHERE state = 'leased'")
        let next = try await world.ledger.lease(.transactionHistory, atMost: 5, for: world.holder(of: start.run))
        guard case .items(let taken) = next else { return #expect(Bool(false), "nothing was leased") }
        #expect(taken.prefix(3).map(\.key) == lost.map(\.key))
        #expect(taken.count == 5)
    }

    @Test func `deferred items wait until items not yet begun have had their turn`() async throws {
        let world = try await TestLedger()
        let plan = world.plan(try await Jobs.load(streams: "transactionHistory: {}"))
        let start = try await world.ledger.beginOrJoin(plan, ids: .query("SELECT generate_series(1, 5)"))
        try await world.run("UPDATE crawl_items SET claimable_at = clock_timestamp() WHERE item_key IN ('1', '2')")
        let leased = try await world.ledger.lease(.transactionHistory, atMost: 5, for: world.holder(of: start.run))
        guard case .items(let taken) = leased else { return #expect(Bool(false), "nothing was leased") }
        #expect(taken.map(\.key) == ["3", "4", "5", "1", "2"])
    }

    @Test func `workers that lease at the same time never get the same item`() async throws {
        let world = try await TestLedger()
        let plan = world.plan(try await Jobs.load(streams: "transactionHistory: {}"))
        let start = try await world.ledger.beginOrJoin(plan, ids: .query("SELECT generate_series(1, 3000)"))
        let workers = try (0..<4).map { _ in (try world.anotherProcess(), world.holder(of: start.run)) }
        let leased = try await withThrowingTaskGroup(of: [WorkItem].self) { group in
            for (ledger, holder) in workers {
                group.addTask {
                    var mine: [WorkItem] = []
                    while case .items(let items) = try await ledger.lease(.transactionHistory, atMost: 17, for: holder)
                    {
                        mine += items
                    }
                    return mine
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(leased.allSatisfy { !$0.isEmpty })
        let keys = leased.joined().map(\.key)
        #expect(keys.count == 3_000 && Set(keys).count == 3_000)
        #expect(leased.joined().allSatisfy { $0.epoch == 1 && $0.cursor == nil && $0.window == nil })
    }

    @Test func `leased items are leased again after their lease ran out, at a higher epoch`() async throws {
        let world = try await TestLedger()
        let (items, first) = try await world.leased(["1", "2"])
        let second = world.holder(of: first.run)
        #expect(try await world.take(.transactionHistory, 5, for: second) == [])
        try await expire(world)
        let again = try await world.take(.transactionHistory, 5, for: second)
        #expect(again.map(\.epoch) == items.map { $0.epoch + 1 })
    }

    @Test func `D13 a worker whose lease was taken over changes nothing any more`() async throws {
        let world = try await TestLedger()
        let (items, zombie) = try await world.leased(["1"])
        try await expire(world)
        let heir = world.holder(of: zombie.run)
        let taken = try #require(try await world.take(.transactionHistory, 1, for: heir).first)
        let state =
            "SELECT state, cursor, page_seq, page_count, lease_owner, claimable_at, lease_epoch FROM crawl_items"
        let before = try await world.rows(state)

        let page = world.page(Rows.fullPage(), of: items[0], for: zombie, isLast: true)
        #expect(try await world.ledger.commit(page) == nil)
        for outcome in [
            ItemOutcome.failed(code: 1, message: "late"), .deferred(delay: .seconds(1), code: 1, message: "late"),
            .restarted(code: 1, message: "late"), .moved(.sandbox), .shortened(code: 1, message: "late"),
        ] {
            #expect(try await !world.record(outcome, of: items[0], requests: 1, for: zombie))
        }
        #expect(try await world.ledger.renewLeases(of: items.map(HeldItem.init), for: zombie) == [])
        try await world.ledger.releaseLeases(of: zombie)

        #expect(try await world.rows(state) == before)
        for table in ["transactions", "signed_payloads", "rejected_records", "field_issues", "coverage_gaps"] {
            #expect(try await world.count(table) == 0)
        }
        #expect(try await world.ledger.commit(world.page(PageRows(), of: taken, for: heir)) != nil)
    }

    @Test func `the epoch outlives the end of an item and of its run`() async throws {
        let world = try await TestLedger()
        let (items, holder) = try await world.leased(["1"])
        _ = try await world.ledger.commit(world.page(PageRows(), of: items[0], for: holder, isLast: true))
        try await world.finish(holder.run)
        let next = try await world.begin("transactionHistory: {}", ids: ["1"], now: .daysAfter(1))
        let again = try await world.take(.transactionHistory, 1, for: world.holder(of: next.run))
        #expect(again.map(\.epoch) == [items[0].epoch + 1])
        #expect(again.map(\.pageSequence) == [1])
        // The worker of the run before wakes up.
        let late = world.page(Rows.fullPage(), of: items[0], for: holder)
        #expect(try await world.ledger.commit(late) == nil)
        #expect(try await world.count("transactions") == 0)
    }

    @Test func `released items can be taken at once, cursor and counts untouched`() async throws {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1", "2"])
        try await world.commit(PageRows(Rows.transaction("1")), of: &items[0], for: holder)
        try await world.ledger.releaseLeases(of: holder)
        let again = try await world.take(.transactionHistory, 5, for: world.holder(of: holder.run))
        #expect(again.count == 2)
        let first = try #require(again.first { $0.key == items[0].key })
        #expect(first.cursor == "C1" && first.pageCount == 1 && first.pageSequence == 1)
    }

    @Test func `renewing prolongs the leases that the process still has, and names them`() async throws {
        let world = try await TestLedger()
        let (items, holder) = try await world.leased(["1", "2", "3"])
        _ = try await world.ledger.commit(world.page(PageRows(), of: items[0], for: holder, isLast: true))
        try await world.record(
            .deferred(delay: .seconds(9), code: nil, message: ""),
            of: items[1],
            requests: 0,
            for: holder
        )
        try await expire(world)
        let held = try await world.ledger.renewLeases(of: items.map(HeldItem.init), for: holder)
        #expect(held == [HeldItem(items[2])])
        let left = try await world.value(
            "SELECT claimable_at - now() > interval '50 s' FROM crawl_items WHERE state = 'leased'"
        )
        #expect(left == "true")
    }

    @Test func `without a free item the answer is how long to wait, and without any item that the queue is drained`()
        async throws
    {
        let world = try await TestLedger()
        let (items, holder) = try await world.leased(["1", "2"])
        _ = try await world.ledger.commit(world.page(PageRows(), of: items[0], for: holder, isLast: true))
        let delay = Duration.seconds(30)
        try await world.record(
            .deferred(delay: delay, code: 1, message: "busy"),
            of: items[1],
            requests: 5,
            for: holder
        )
        guard case .later(let wait) = try await world.ledger.lease(.transactionHistory, atMost: 1, for: holder) else {
            Issue.record("a postponed item is neither ready nor gone")
            return
        }
        #expect(wait > .seconds(25) && wait <= delay)
        try await world.run("UPDATE crawl_items SET state = 'done', claimable_at = NULL")
        guard case .drained = try await world.ledger.lease(.transactionHistory, atMost: 1, for: holder) else {
            Issue.record("no item is left")
            return
        }
    }

    @Test func `a failed item keeps its cursor`() async throws {
        try await leaves(.failed(code: 5_000_001, message: "why"), "(failed,R,0,0,,,5000001,why,5)")
    }

    @Test func `a postponed item keeps its cursor`() async throws {
        try await leaves(
            .deferred(delay: .seconds(2), code: 5_000_001, message: "why"),
            "(waiting,R,0,1,,,5000001,why,5)"
        )
    }

    @Test func `an item restarted loses its cursor`() async throws {
        try await leaves(.restarted(code: 5_000_001, message: "why"), "(waiting,,1,0,,,5000001,why,5)")
    }

    @Test func `an item moved begins again in the other environment`() async throws {
        try await leaves(.moved(.sandbox), #"(waiting,,0,0,Sandbox,,,"not known to Production, tried in Sandbox",5)"#)
    }

    @Test func `an item is leased with everything its next request needs`() async throws {
        let world = try await TestLedger()
        let (items, holder) = try await world.leased(["1"], streams: WindowTests.perID, of: .notificationHistory)
        let window = try #require(items.first?.window)
        try await world.run(
            """
            UPDATE crawl_items SET cursor = 'T', other_environment = 'Sandbox', page_seq = 9, page_count = 2, restarts = 1,
                   deferrals = 3, state = 'waiting', claimable_at = now() WHERE stream = 'notificationHistory'
            """
        )
        let again = try await world.take(.notificationHistory, 1, for: holder)
        let expected = WorkItem(
            stream: .notificationHistory,
            key: "1",
            epoch: 2,
            pageSequence: 9,
            cursor: "T",
            window: window,
            otherEnvironment: .sandbox,
            pageCount: 2,
            restarts: 1,
            deferrals: 3
        )
        #expect(again == [expected])
    }

    @Test func `a lease without a user is not renewed, and expires`() async throws {
        let world = try await TestLedger()
        let (items, holder) = try await world.leased(["1", "2"])
        try await expire(world)
        #expect(try await world.ledger.renewLeases(of: [HeldItem(items[0])], for: holder) == [HeldItem(items[0])])
        guard case .items(let again) = try await world.ledger.lease(.transactionHistory, atMost: 9, for: holder) else {
            Issue.record("the other lease has run out")
            return
        }
        #expect(again.map(\.key) == [items[1].key])
        #expect(again.map(\.epoch) == [items[1].epoch + 1])
    }

    @Test func `items of a superseded run are out of its workers' reach`() async throws {
        let world = try await TestLedger()
        let (items, holder) = try await world.leased(["1", "2"])
        _ = try await world.begin("transactionHistory: {}", ids: ["1"], restart: true)
        #expect(try await world.ledger.renewLeases(of: items.map(HeldItem.init), for: holder) == [])
        guard case .drained = try await world.ledger.lease(.transactionHistory, atMost: 1, for: holder) else {
            Issue.record("the old run has nothing left")
            return
        }
        #expect(try await world.ledger.commit(world.page(PageRows(), of: items[0], for: holder)) == nil)
    }
}
