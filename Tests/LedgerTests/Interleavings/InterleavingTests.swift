import AppStoreModel
import FoundationEssentials
import Ledger
import LedgerSchema
import Migrations
import Planning
import Postgres
import RateLimit
import Streams
import Synchronization
import TestSupport
import Testing

/// Two processes at once, in every order of their steps: no item has two holders, and no record is lost or duplicated.
@Suite(.migratedDatabase, .slow)
struct InterleavingTests {
    /// What a session's function answered in the order that is being played.
    final class Answer<Value: Sendable>: Sendable {
        private let kept = Mutex<Value?>(nil)
        var value: Value? { kept.withLock { $0 } }
        func keep(_ value: Value) { kept.withLock { $0 = value } }
        func forget() { kept.withLock { $0 = nil } }
    }

    private static let lease = ["BEFORE UPDATE ON crawl_items", "AFTER UPDATE ON crawl_items"]
    private static let page = ["BEFORE INSERT ON transactions"] + lease
    private static let take = [
        "BEFORE DELETE ON rate_buckets", "BEFORE INSERT ON rate_buckets", "BEFORE UPDATE ON rate_scopes",
    ]

    private func isLeased(_ leased: Ledger.Leased?) -> [WorkItem] {
        if case .items(let items)? = leased { return items }
        return []
    }

    func expectCommitted(_ page: PageCommit, by ledger: Ledger) async throws {
        let counts = try await ledger.commit(page)
        #expect(counts != nil)
    }

    /// Expects what a query finds, a row a text.
    func expect(_ expected: [String], of query: String, _ world: TestLedger, _ order: String) async throws {
        let found = try await world.rows(query)
        #expect(found == expected, "\(order): \(query)")
    }

    /// The statement that leases all items again, as they were before their first page.
    private static func leaseAgain(to holder: LeaseHolder) -> String {
        """
        UPDATE crawl_items SET state = 'leased', lease_owner = '\(UUID(uuid: holder.owner))', lease_epoch = 1, page_seq = 0,
               cursor = NULL, claimable_at = now() + interval '1 hour'
        """
    }

    /// Items as a run that has just begun has them, one of them left by a dead process when `expired` names it.
    private func restore(_ world: TestLedger, expired: String = "") async throws {
        try await world.run(
            """
            UPDATE crawl_items SET state = 'waiting', lease_owner = NULL, lease_epoch = 0, cursor = NULL, page_seq = 0,
                   page_count = 0, claimable_at = now() - interval '1 second';
            UPDATE crawl_items SET state = 'leased', lease_owner = gen_random_uuid(), lease_epoch = 7
             WHERE item_key = '\(expired)';
            DELETE FROM transactions; DELETE FROM signed_payloads; DELETE FROM rejected_records;
            """
        )
    }

    @Test(arguments: ["a claim and a claim", "a claim and a taking over"])
    func `of two processes that lease at once, each item has one holder and one new epoch`(_ what: String) async throws
    {
        let world = try await TestLedger()
        let run = try await world.begin("transactionHistory: {}", ids: ["1", "2"]).run
        let expired = what == "a claim and a claim" ? "" : "1"
        let holders = [world.holder(of: run), world.holder(of: run)]
        let leased = [Answer<Ledger.Leased>(), Answer<Ledger.Leased>()]
        let game = try await Interleaving(
            in: world,
            gates: Self.lease,
            .init(name: "a", gates: 2) {
                leased[0].keep(try await $0.lease(.transactionHistory, atMost: 1, for: holders[0]))
            },
            .init(name: "b", gates: 2) {
                leased[1].keep(try await $0.lease(.transactionHistory, atMost: 2, for: holders[1]))
            }
        )
        let played = try await game.playAll {
            try await restore(world, expired: expired)
        } check: { order in
            let items = leased.map { isLeased($0.value) }
            let keys = items.joined().map(\.key)
            #expect(Set(keys).count == keys.count && Set(keys) == ["1", "2"], "\(order): \(keys)")
            for item in items.joined() { #expect(item.epoch == (item.key == expired ? 8 : 1), "\(order)") }
            for (holder, items) in zip(holders, items) {
                let owned = try await world.rows(
                    "SELECT item_key FROM crawl_items WHERE lease_owner = '\(UUID(uuid: holder.owner))' ORDER BY 1"
                )
                #expect(owned == items.map(\.key).sorted().map { "(\($0))" }, "\(order)")
            }
        }
        #expect(played == 20)
    }

    @Test func `a run that ends and a retry: no item is left to a run that is over`() async throws {
        let world = try await TestLedger()
        let run = try await world.begin("transactionHistory: {}", ids: ["1", "2"]).run
        let plan = world.plan(try await Jobs.load(streams: "transactionHistory: {}"))
        let retried = Answer<StartedRun>()
        let game = try await Interleaving(
            in: world,
            gates: ["BEFORE UPDATE ON runs", "BEFORE UPDATE ON crawl_items"],
            .init(name: "a", gates: 1) {
                _ = try await $0.conclude(run, app: world.app, job: "nightly-sync", exitCode: nil, message: nil)
            },
            .init(name: "b", gates: 1) { retried.keep(try await $0.retryFailed(plan)) }
        )
        let played = try await game.playAll {
            retried.forget()
            try await world.run(
                """
                UPDATE crawl_items SET run_id = \(run), state = CASE item_key WHEN '1' THEN 'failed' ELSE 'done' END,
                       claimable_at = NULL;
                DELETE FROM runs WHERE run_id <> \(run);
                UPDATE runs SET finished_at = NULL, exit_code = NULL
                """
            )
        } check: { order in
            let started = try #require(retried.value)
            try await expect(
                ["(1,\(started.run),t)"],
                of: """
                    SELECT item_key, run_id, runs.finished_at IS NULL FROM crawl_items JOIN runs USING (app_id, run_id)
                     WHERE state = 'waiting'
                    """,
                world,
                order
            )
        }
        #expect(played == 6)
    }

    @Test func `a heartbeat and a takeover: the item continues with one of the two`() async throws {
        let world = try await TestLedger()
        let run = try await world.begin("transactionHistory: {}", ids: ["1"]).run
        let (sleeper, heir) = (world.holder(of: run), world.holder(of: run))
        let (renewed, leased) = (Answer<[HeldItem]>(), Answer<Ledger.Leased>())
        let mine = HeldItem(stream: "transactionHistory", key: "1", epoch: 7)
        let game = try await Interleaving(
            in: world,
            gates: Self.lease,
            .init(name: "a", gates: 2) { renewed.keep(try await $0.renewLeases(of: [mine], for: sleeper)) },
            .init(name: "b", gates: 2) { leased.keep(try await $0.lease(.transactionHistory, atMost: 1, for: heir)) }
        )
        let played = try await game.playAll {
            try await restore(world, expired: "1")
            try await world.run("UPDATE crawl_items SET lease_owner = '\(UUID(uuid: sleeper.owner))'")
        } check: { order in
            let isRenewed = renewed.value == [mine]
            let isTaken = isLeased(leased.value).map(\.epoch) == [8]
            #expect(isRenewed != isTaken, "\(order)")
            let owner = try await world.value("SELECT lease_owner FROM crawl_items")
            #expect(owner == UUID(uuid: isTaken ? heir.owner : sleeper.owner).uuidString.lowercased(), "\(order)")
        }
        #expect(played == 20)
    }

    @Test func `a page and a takeover: the page is stored once, and the new owner continues after it or before it`()
        async throws
    {
        let world = try await TestLedger()
        let run = try await world.begin("transactionHistory: {}", ids: ["1"]).run
        let (zombie, heir) = (world.holder(of: run), world.holder(of: run))
        let (committed, leased) = (Answer<RowCounts?>(), Answer<Ledger.Leased>())
        let item = WorkItem(
            stream: .transactionHistory,
            key: "1",
            epoch: 7,
            pageSequence: 0,
            cursor: nil,
            window: nil,
            otherEnvironment: nil,
            pageCount: 0,
            restarts: 0,
            deferrals: 0
        )
        let page = world.page(PageRows(Rows.transaction("100001")), of: item, for: zombie)
        let game = try await Interleaving(
            in: world,
            gates: Self.page,
            .init(name: "a", gates: 3) { committed.keep(try await $0.commit(page)) },
            .init(name: "b", gates: 2) { leased.keep(try await $0.lease(.transactionHistory, atMost: 1, for: heir)) }
        )
        let played = try await game.playAll {
            try await restore(world, expired: "1")
            try await world.run("UPDATE crawl_items SET lease_owner = '\(UUID(uuid: zombie.owner))'")
            committed.forget()
        } check: { order in
            let counts = committed.value ?? nil
            let taken = isLeased(leased.value)
            let rows = try await world.count("transactions")
            #expect(rows == (counts == nil ? 0 : 1), "\(order)")
            let pages = try await world.value("SELECT page_seq FROM crawl_items")
            #expect(pages == (counts == nil ? "0" : "1"), "\(order)")
            // An heir that came while the page was under way skips the item, and finds it a moment later.
            if let first = taken.first { #expect(first.pageSequence == (counts == nil ? 0 : 1), "\(order)") }
            #expect(counts != nil || taken.count == 1, "\(order)")
        }
        #expect(played == 35)
    }

    @Test func `an older and a newer snapshot: the newer one stays, and both pages are there`() async throws {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1", "2"])
        let old = world.page(
            PageRows(Rows.transaction("100001", signed: 1_000, product: "old")),
            of: items[0],
            for: holder
        )
        let new = world.page(
            PageRows(Rows.transaction("100001", signed: 2_000, product: "new")),
            of: items[1],
            for: holder
        )
        items.removeAll()
        let game = try await Interleaving(
            in: world,
            gates: Self.page,
            .init(name: "old", gates: 3) { try await expectCommitted(old, by: $0) },
            .init(name: "new", gates: 3) { try await expectCommitted(new, by: $0) }
        )
        let played = try await game.playAll {
            try await world.run("DELETE FROM transactions; \(Self.leaseAgain(to: holder))")
        } check: { order in
            try await expect(["(new)"], of: "SELECT product_id FROM transactions", world, order)
            try await expect(["(2)"], of: "SELECT sum(page_seq) FROM crawl_items", world, order)
        }
        #expect(played == 70)
    }

    @Test func `a page with a listed ID and one without it store the same transaction: it has the ID in every order`()
        async throws
    {
        let world = try await TestLedger()
        let (items, holder) = try await world.leased(["1", "2"])
        let listed = world.page(PageRows(Rows.transaction("100001")), of: items[0], for: holder)
        let unlisted = world.page(PageRows(Rows.transaction("100001")), of: items[1], for: holder, isListed: false)
        let game = try await Interleaving(
            in: world,
            gates: Self.page,
            .init(name: "listed", gates: 3) { try await expectCommitted(listed, by: $0) },
            .init(name: "unlisted", gates: 3) { try await expectCommitted(unlisted, by: $0) }
        )
        let played = try await game.playAll {
            try await world.run("DELETE FROM transactions; \(Self.leaseAgain(to: holder))")
        } check: { order in
            try await expect(["(1)"], of: "SELECT listed_transaction_id FROM transactions", world, order)
        }
        #expect(played == 70)
    }

    @Test func `a content that is signed again and an older snapshot: the older one never stays`() async throws {
        let world = try await TestLedger()
        var (items, holder) = try await world.leased(["1", "2"])
        func page(signed: Int64, hash: UInt8, content: UInt8, product: String, of item: WorkItem) -> PageCommit {
            var rows = PageRows(
                Rows.snapshot(
                    Tables.transactions,
                    "100001",
                    signed: signed,
                    hash: hash,
                    contentDigest: [UInt8](repeating: content, count: 32),
                    cells: ["product_id": .text(product)]
                )
            )
            rows.archive = [Rows.archived(.transaction, "100001", signed: signed, payload: "{}", hash: hash)]
            return world.page(rows, of: item, for: holder)
        }
        let held = page(signed: 1_000, hash: 1, content: 1, product: "held", of: items[0])
        let again = page(signed: 3_000, hash: 3, content: 1, product: "held", of: items[0])
        let older = page(signed: 2_000, hash: 2, content: 2, product: "older", of: items[1])
        items.removeAll()
        let restore = Self.leaseAgain(to: holder)
        let game = try await Interleaving(
            in: world,
            gates: [
                "BEFORE INSERT ON latest_signatures", "AFTER INSERT ON latest_signatures",
                "BEFORE UPDATE ON crawl_items",
            ],
            .init(name: "again", gates: 3) { try await expectCommitted(again, by: $0) },
            .init(name: "older", gates: 3) { try await expectCommitted(older, by: $0) }
        )
        let played = try await game.playAll {
            try await world.run(
                "DELETE FROM transactions; DELETE FROM signed_payloads; DELETE FROM latest_signatures; \(restore)"
            )
            try await expectCommitted(held, by: world.ledger)
            try await world.run(restore)
        } check: { order in
            try await expect(["(held)"], of: "SELECT product_id FROM transactions", world, order)
            try await expect(["(2)"], of: "SELECT sum(page_seq) FROM crawl_items", world, order)
            let locks = try await world.count("latest_signatures WHERE signature IS NULL")
            #expect(locks == 0, "\(order)")
        }
        #expect(played == 70)
    }

    @Test(arguments: [true, false])
    func `two that take the last unit of a budget get one between them`(isFirstEver: Bool) async throws {
        let world = try await TestLedger()
        let window = RateWindow(length: .seconds(3_600))
        let share = PostgresRateLedger.Share(requestsPerSecond: 1 / 3_600, window: window)
        let app = world.app
        let granted = [Answer<Int>(), Answer<Int>()]
        let take: @Sendable (Ledger) async throws -> Int = { ledger in
            let budget = PostgresRateLedger(pool: ledger.control, app: app, shares: [.refundHistory: share])
            return try await budget.take(.refundHistory, atMost: 1).granted
        }
        let game = try await Interleaving(
            in: world,
            gates: Self.take,
            .init(name: "a", gates: 3) { granted[0].keep(try await take($0)) },
            .init(name: "b", gates: 3) { granted[1].keep(try await take($0)) }
        )
        let played = try await game.playAll {
            try await world.run("DELETE FROM rate_buckets; DELETE FROM rate_scopes")
            if !isFirstEver {
                try await world.run(
                    "INSERT INTO rate_scopes (app_id, endpoint) VALUES (\(app.rawValue), 'refundHistory')"
                )
            }
        } check: { order in
            let sum = granted.compactMap(\.value).reduce(0, +)
            #expect(sum == 1, "\(order): \(sum)")
            try await expect(["(1)"], of: "SELECT sum(granted) FROM rate_buckets", world, order)
        }
        #expect(played == 70)
    }

    @Test func `a 429 and a request: nothing is granted once the endpoint is closed, and it stays closed`() async throws
    {
        let world = try await TestLedger()
        let share = PostgresRateLedger.Share(requestsPerSecond: 10, window: RateWindow(length: .seconds(3_600)))
        let app = world.app
        let budget: @Sendable (Ledger) -> PostgresRateLedger = {
            PostgresRateLedger(pool: $0.control, app: app, shares: [.refundHistory: share])
        }
        let (near, far) = (Duration.seconds(600), Duration.seconds(1_200))
        let game = try await Interleaving(
            in: world,
            gates: ["BEFORE INSERT ON rate_scopes", "AFTER INSERT ON rate_scopes"] + Self.take,
            .init(name: "near", gates: 2) { try await budget($0).close(.refundHistory, for: near) },
            .init(name: "far", gates: 1) { try await budget($0).close(.refundHistory, for: far) },
            .init(name: "take", gates: 1) { _ = try await budget($0).take(.refundHistory, atMost: 1) }
        )
        let played = try await game.playAll {
            try await world.run(
                """
                DELETE FROM rate_buckets; DELETE FROM rate_scopes;
                INSERT INTO rate_scopes (app_id, endpoint) VALUES (\(app.rawValue), 'refundHistory')
                """
            )
        } check: { order in
            let isFar = "SELECT closed_until > clock_timestamp() + interval '1100 s' FROM rate_scopes"
            #expect(try await world.value(isFar) == "true", "\(order)")
            let last = try await budget(world.ledger).take(.refundHistory, atMost: 1)
            #expect(last.granted == 0 && last.refusal == .closed, "\(order)")
        }
        #expect(played == 210)
    }

    @Test func `a migration and a page: both end well, the page is there once`() async throws {
        let world = try await TestLedger()
        let (items, holder) = try await world.leased(["1"])
        let page = world.page(PageRows(Rows.transaction("100001")), of: items[0], for: holder)
        try await withTemporaryDirectory { directory in
            try FileManager.default.copyItem(atPath: TestLedger.sql.path, toPath: directory + "/sql")
            let file = URL(filePath: directory + "/sql/migrations/9999_test.sql")
            try Data("ALTER TABLE transactions ADD CONSTRAINT test CHECK (true);".utf8).write(to: file)
            let sql = try SQLDirectory.find(executable: directory + "/storeledger")
            let game = try await Interleaving(
                in: world,
                gates: Self.page + ["BEFORE INSERT ON schema_migrations", "AFTER INSERT ON schema_migrations"],
                .init(name: "page", gates: 3) { try await expectCommitted(page, by: $0) },
                .init(name: "migrate", gates: 2) {
                    let applied = try await Migrator(ledger: $0, directory: sql).migrate().applied
                    #expect(applied == ["9999_test.sql"])
                }
            )
            let played = try await game.playAll {
                try await world.run(
                    """
                    DELETE FROM transactions; ALTER TABLE transactions DROP CONSTRAINT IF EXISTS test;
                    DELETE FROM schema_migrations WHERE name = '9999_test.sql';
                    UPDATE crawl_items SET page_seq = 0, cursor = NULL, claimable_at = now() + interval '1 hour'
                    """
                )
            } check: { order in
                try await expect(["(100001)"], of: "SELECT transaction_id FROM transactions", world, order)
                try await expect(["(1)"], of: "SELECT count(*) FROM pg_constraint WHERE conname = 'test'", world, order)
                try await expect(["(1)"], of: "SELECT page_seq FROM crawl_items", world, order)
            }
            #expect(played == 35)
        }
    }
}

extension UUID {
    fileprivate init(uuid bytes: [UInt8]) {
        self =
            UUID(
                uuidString: [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { range in
                    bytes[range].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
                }.joined(separator: "-")
            ) ?? UUID()
    }
}
