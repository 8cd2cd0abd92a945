import AppStoreModel
import JobFiles
import JobSyntax
import Ledger
import LedgerSchema
import Planning
import Postgres
import Status
import Streams
import TestSupport
import Testing

@Suite(.migratedDatabase)
struct RunTests {
    static let histories = "transactionHistory: {}, refundHistory: {for: all}"

    @Test func `a run has one item for each distinct ID and stream, and counts the rest as duplicates`() async throws {
        let world = try await TestLedger()
        let start = try await world.begin(Self.histories, ids: ["1", "2", "2", "02", "1"])
        #expect(!start.joined && start.now == Jobs.now)
        #expect(start.listedIDs == 3 && start.duplicateIDs == 2)
        let items = try await world.rows("SELECT stream, item_key FROM crawl_items ORDER BY stream, item_key")
        #expect(
            items == [
                "(refundHistory,02)", "(refundHistory,1)", "(refundHistory,2)",
                "(transactionHistory,02)", "(transactionHistory,1)", "(transactionHistory,2)",
            ]
        )
        #expect(try await world.value("SELECT (listed_ids, duplicate_ids, version) FROM runs") == "(3,2,test)")
    }

    @Test func `a second process joins the unfinished run, with its now, and does not read its own list`() async throws
    {
        let world = try await TestLedger()
        let first = try await world.begin(Self.histories, ids: ["1", "2"])
        let second = try await world.begin(Self.histories, ids: ["3"], now: .daysAfter(1))
        #expect(second.joined && second.run == first.run && second.now == Jobs.now)
        #expect(try await world.count("crawl_items WHERE item_key = '3'") == 0)
    }

    @Test func `processes that start together share one run`() async throws {
        let world = try await TestLedger()
        let plan = world.plan(try await Jobs.load(streams: Self.histories))
        let ledgers = try (0..<4).map { _ in try world.anotherProcess() }
        let starts = try await withThrowingTaskGroup(of: StartedRun.self) { group in
            for ledger in ledgers {
                group.addTask {
                    try await ledger.beginOrJoin(plan, ids: .query("SELECT generate_series(1, 500)"))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(starts.map(\.run)).count == 1)
        #expect(starts.count { !$0.joined } == 1)
        #expect(try await world.count("crawl_items") == 1_000)
    }

    @Test func `a finished run is followed by a new one that continues at the cursors`() async throws {
        let world = try await TestLedger()
        let first = try await world.begin(Self.histories, ids: ["1"])
        try await world.finish(first.run)
        #expect(try await world.ledger.end(of: first.run, app: world.app) == .finished)
        let second = try await world.begin(Self.histories, ids: ["1"], now: .daysAfter(1))
        #expect(!second.joined && second.run > first.run && second.remarks == [])
        let items = try await world.rows("SELECT state, cursor, run_id = \(second.run) FROM crawl_items")
        #expect(items == ["(waiting,R,t)", "(waiting,R,t)"])
    }

    @Test func `a revision that was requested with relative dates or backwards is not used again`() async throws {
        let world = try await TestLedger()
        for filters in ["startDate: -7d", "sort: DESCENDING"] {
            let first = try await world.begin("transactionHistory: {\(filters)}", ids: ["1"])
            try await world.finish(first.run)
            _ = try await world.begin("transactionHistory: {\(filters)}", ids: ["1"], now: .daysAfter(1))
            #expect(try await world.value("SELECT cursor IS NULL FROM crawl_items") == "true")
            _ = try await world.begin("transactionHistory: {\(filters), revoked: true}", ids: ["1"])
        }
    }

    struct Interrupted: Error {}

    @Test func `a list that turns out to be bad leaves no run and no item`() async throws {
        let world = try await TestLedger()
        let plan = world.plan(try await Jobs.load(streams: Self.histories))
        await #expect(throws: Interrupted.self) {
            _ = try await world.ledger.beginOrJoin(
                plan,
                ids: .feed { take in
                    try take(["1", "2"])
                    throw Interrupted()
                }
            )
        }
        #expect(try await world.count("runs") == 0)
        #expect(try await world.count("crawl_items") == 0)
        let start = try await world.begin(Self.histories, ids: ["7"])
        #expect(start.listedIDs == 1)
    }

    @Test(arguments: [
        "SELECT n, 'more' FROM (VALUES (5), (6), (5), (NULL)) AS v (n)",
        "WITH v AS (SELECT 5::bigint AS n UNION ALL SELECT 6 UNION ALL SELECT 5) SELECT n FROM v -- the last word",
    ])
    func `a query lists IDs`(_ sql: String) async throws {
        let world = try await TestLedger()
        let plan = world.plan(try await Jobs.load(streams: Self.histories))
        let start = try await world.ledger.beginOrJoin(plan, ids: .query(sql))
        #expect(start.listedIDs == 2 && start.duplicateIDs == 1)
        let counted = try await world.ledger.countListed(by: sql, of: .transaction)
        #expect(counted.distinct == 2 && counted.duplicates == 1 && counted.nulls == (sql.contains("NULL") ? 1 : 0))
    }

    @Test func `a name without a schema is a table of the user in a list of IDs, and a view of the ledger in an input`()
        async throws
    {
        let world = try await TestLedger()
        try await world.run(
            """
            CREATE TABLE public.purchases (original_transaction_id text);
            INSERT INTO public.purchases VALUES ('5'), ('6');
            CREATE TABLE public.customers (id text);
            INSERT INTO public.customers VALUES ('7')
            """
        )
        let plan = world.plan(try await Jobs.load(streams: Self.histories))
        let own =
            "list reads public.purchases, not appstore.purchases of the ledger. Write the schema to say which one is meant"
        for (sql, count, shared) in [
            ("SELECT original_transaction_id FROM purchases", 2, [own]),
            ("SELECT original_transaction_id FROM appstore.purchases", 0, []),
            ("SELECT purchases.original_transaction_id FROM public.purchases", 2, []),
            ("SELECT c.id FROM customers c, \"purchases\" WHERE original_transaction_id = '5'", 1, [own]),
            // What only the ledger has needs no schema.
            ("SELECT original_transaction_id FROM transactions UNION ALL SELECT id FROM customers", 1, []),
        ] {
            #expect(try await world.ledger.countListed(by: sql, of: .transaction).distinct == count, "\(sql)")
            #expect(try await world.ledger.sharedNames(in: sql).map { $0.readsOwn("list") } == shared, "\(sql)")
        }
        let listed = ListedIDs.query("SELECT original_transaction_id FROM purchases")
        #expect(try await world.ledger.beginOrJoin(plan, ids: listed).listedIDs == 2)
        // The session's own names are as before.
        let isOurs = "'purchases'::regclass = 'appstore.purchases'::regclass"
        #expect(try await world.value(isOurs) == "true")
        let (within, after) = try await world.ledger.transaction { connection in
            let within = try UserTables.first(on: connection) { connection in
                try connection.run("SELECT \(isOurs) AS is_ours", [])[0].bool("is_ours")
            }
            return (within, try connection.run("SELECT \(isOurs) AS is_ours", [])[0].bool("is_ours"))
        }
        #expect(!within && after)
    }

    @Test(arguments: ["1/../2", "", "123456789012345678901", "²"])
    func `an ID from a query that is none is named, and nothing begins`(_ id: String) async throws {
        let world = try await TestLedger()
        let plan = world.plan(try await Jobs.load(streams: Self.histories))
        let sql = "SELECT '\(id)' UNION ALL SELECT '1'"
        let error = await #expect(throws: BadListedID.self) {
            _ = try await world.ledger.beginOrJoin(plan, ids: .query(sql))
        }
        #expect(error?.found == id)
        // `plan` and `doctor` count the list, and refuse what a run refuses.
        let counted = await #expect(throws: BadListedID.self) {
            _ = try await world.ledger.countListed(by: sql, of: .transaction)
        }
        #expect(counted == error)
        #expect(try await world.count("runs") == 0)
    }

    @Test func `a run against another server does not continue an unfinished run, and retry refuses to`() async throws {
        let world = try await TestLedger()
        let apple = world.plan(try await Jobs.load(streams: Self.histories))
        let first = try await world.ledger.beginOrJoin(apple, ids: .feed { try $0(["1"]) })
        try await world.run("UPDATE runs SET server = 'http://127.0.0.1:8080'")
        await #expect(throws: NothingToRetry.jobHasChanged(run: first.run)) {
            _ = try await world.ledger.retryFailed(apple)
        }
        let second = try await world.ledger.beginOrJoin(apple, ids: .feed { try $0(["1"]) })
        #expect(second.run > first.run && !second.joined)
        #expect(
            second.remarks.contains(
                "run \(first.run) had work left and requested http://127.0.0.1:8080; this run replaces it"
            ),
            "\(second.remarks)"
        )
        let server = try await world.value("SELECT server FROM runs WHERE run_id = \(second.run)")
        #expect(server == apple.job.appStore.baseURL)
        // Other roots at the same server.
        try await world.run("UPDATE runs SET trusted_roots = '{aa}' WHERE run_id = \(second.run)")
        let trusting = RunPlan(
            job: apple.job,
            app: apple.app,
            now: apple.now,
            restart: false,
            version: apple.version,
            trustedRoots: ["bb"]
        )
        let third = try await world.ledger.beginOrJoin(trusting, ids: .feed { try $0(["1"]) })
        #expect(third.run > second.run && third.remarks.contains { $0.contains("and trusted other roots") })
    }

    @Test func `D10 other filters supersede an unfinished run, say so, and drop the cursors of their stream alone`()
        async throws
    {
        let world = try await TestLedger()
        let first = try await world.begin(Self.histories, ids: ["1", "2"])
        let holder = world.holder(of: first.run)
        var item = try #require(try await world.take(.transactionHistory, 1, for: holder).first)
        try await world.commit(PageRows(Rows.transaction("1")), of: &item, for: holder)
        try await world.run("UPDATE crawl_items SET cursor = 'R'")
        let second = try await world.begin(
            "transactionHistory: {revoked: true}, refundHistory: {for: all}",
            ids: ["1", "2"]
        )
        #expect(!second.joined && second.run != first.run)
        #expect(second.remarks.count == 2)
        #expect(second.remarks.first?.contains("run \(first.run)") == true)
        #expect(
            second.remarks.last?.contains("transactionHistory: the filters have changed; its items start again") == true
        )
        let items = try await world.rows("SELECT stream, item_key, cursor FROM crawl_items ORDER BY 1, 2")
        #expect(
            items == [
                "(refundHistory,1,R)", "(refundHistory,2,R)", "(transactionHistory,1,)", "(transactionHistory,2,)",
            ]
        )
        let old = try await world.value(
            "SELECT (finished_at IS NOT NULL, exit_code, items, pages, rows_new) FROM runs WHERE run_id = \(first.run)"
        )
        #expect(old == "(t,75,4,1,1)")
        #expect(try await world.ledger.commit(world.page(PageRows(), of: item, for: holder)) == nil)
    }

    @Test func `the items that a superseded run left have not failed, and a retry does not offer them`() async throws {
        let world = try await TestLedger()
        let plan = world.plan(try await Jobs.load(streams: "transactionHistory: {}"))
        let (items, holder) = try await world.leased(["1", "2", "3"])
        try await world.record(.failed(code: 4_040_010, message: "not found"), of: items[0], requests: 1, for: holder)
        try await world.record(
            .deferred(delay: .zero, code: 503, message: "busy"),
            of: items[1],
            requests: 5,
            for: holder
        )
        let second = try await world.begin("transactionHistory: {}", ids: ["1"], restart: true)

        #expect(
            try await world.rows("SELECT item_key, state, error_code, error_message FROM crawl_items ORDER BY 1")
                == ["(1,waiting,,)", "(2,superseded,,)", "(3,superseded,,)"]
        )
        #expect(try await world.value("SELECT items_failed FROM runs WHERE run_id = \(holder.run)") == "1")
        #expect(try await world.ledger.failureReasons(of: "nightly-sync", app: world.app).isEmpty)
        let retryable = try await world.ledger.transaction { connection in
            try Ledger.countRetryable(by: plan, on: connection)
        }
        #expect(retryable == 0)
        try await world.finish(second.run)
        let third = try await world.begin("transactionHistory: {}", ids: ["1", "2", "3"], now: .daysAfter(1))
        #expect(try await world.take(.transactionHistory, 9, for: world.holder(of: third.run)).count == 3)
    }

    @Test func `a plan that ends between two batches is continued, and no worker begins before it is complete`()
        async throws
    {
        let world = try await TestLedger()
        let plan = world.plan(try await Jobs.load(streams: "transactionHistory: {}"))
        let ids = ListedIDs.query("SELECT 1000000 + generate_series(1, 25000)")
        try await world.run(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''the disk is full''; END';
            CREATE TRIGGER refuse BEFORE INSERT ON crawl_items FOR EACH ROW WHEN (new.item_key = '1015000') EXECUTE FUNCTION refuse()
            """
        )
        await #expect(throws: PostgresError.self) { _ = try await world.ledger.beginOrJoin(plan, ids: ids) }
        #expect(try await world.rows("SELECT phase, finished_at IS NULL FROM runs") == ["(-1,t)"])
        #expect(try await world.count("crawl_items") == 10_000)
        try await world.run("DROP TRIGGER refuse ON crawl_items")

        let retry = world.plan(try await Jobs.load(streams: "transactionHistory: {}"), now: .daysAfter(1))
        let begun = try #require(try await world.value("SELECT run_id FROM runs").flatMap(Int64.init))
        await #expect(throws: NothingToRetry.stillPlanning(run: begun)) { try await world.ledger.retryFailed(retry) }
        let continued = try await world.anotherProcess().beginOrJoin(retry, ids: ids)

        #expect(continued.joined && continued.run == begun && continued.now == Jobs.now)
        #expect(continued.remarks.first?.contains("reads the current list again") == true)
        #expect(try await world.count("crawl_items WHERE state = 'waiting' AND run_id = \(begun)") == 25_000)
        #expect(try await world.value("SELECT (phase, listed_ids) FROM runs") == "(1,25000)")
    }

    @Test func `a run that replaces another one keeps its finished items, also through a third run`() async throws {
        let world = try await TestLedger()
        func begin(_ ids: [String], restart: Bool = false) async throws -> StartedRun {
            let list = ids.map { "\"\($0)\"" }.joined(separator: ", ")
            let job = try await Jobs.load(
                streams: "transactionHistory: {}",
                listing: list.dropFirst().dropLast().description
            )
            return try await world.ledger.beginOrJoin(
                world.plan(job, restart: restart),
                ids: .feed { take in try take(ids) }
            )
        }
        let first = try await begin(["1", "2", "3", "4"])
        try await world.run("UPDATE crawl_items SET state = 'done', claimable_at = NULL WHERE item_key IN ('1', '2')")
        let second = try await begin(["1", "3"])
        let third = try await begin(["1", "2", "3"])
        #expect(first.run < second.run && second.run < third.run)
        let states = try await world.rows(
            "SELECT item_key, state FROM crawl_items WHERE run_id = \(third.run) ORDER BY 1"
        )
        #expect(states == ["(1,done)", "(2,done)", "(3,waiting)"])
        // A run that is complete begins the next one from nothing.
        try await world.finish(third.run)
        let next = try await begin(["1", "2", "3"])
        #expect(try await world.count("crawl_items WHERE run_id = \(next.run) AND state = 'waiting'") == 3)
        // So does a restart.
        try await world.run("UPDATE crawl_items SET state = 'done', claimable_at = NULL WHERE run_id = \(next.run)")
        let restarted = try await begin(["1", "2", "3"], restart: true)
        #expect(try await world.count("crawl_items WHERE run_id = \(restarted.run) AND state = 'waiting'") == 3)
    }

    @Test func `restart begins everything at its beginning`() async throws {
        let world = try await TestLedger()
        let first = try await world.begin(Self.histories, ids: ["1"])
        try await world.run("UPDATE crawl_items SET cursor = 'R', page_seq = 3, other_environment = 'Sandbox'")
        let second = try await world.begin(Self.histories, ids: ["1"], restart: true)
        #expect(second.run != first.run && !second.joined)
        #expect(second.remarks == ["run \(first.run) had work left; this run replaces it"])
        let items = try await world.rows("SELECT cursor, page_seq, other_environment FROM crawl_items")
        #expect(items == ["(,3,)", "(,3,)"])
    }

    @Test func `an unfinished run is not joined for another list of IDs`() async throws {
        let world = try await TestLedger()
        func begin(_ id: String) async throws -> StartedRun {
            let job = try await Jobs.load(streams: "transactionHistory: {}", listing: id)
            return try await world.ledger.beginOrJoin(
                world.plan(job),
                ids: .feed { take in try take([id]) }
            )
        }
        let first = try await begin("1")
        let second = try await begin("2")
        #expect(!second.joined && second.run != first.run)
        #expect(try await world.ledger.end(of: first.run, app: world.app) == .superseded)
        let items = try await world.take(.transactionHistory, 9, for: world.holder(of: second.run))
        #expect(items.map(\.key) == ["2"])
    }

    @Test func `IDs removed from the list are not crawled any more`() async throws {
        let world = try await TestLedger()
        let first = try await world.begin("transactionHistory: {}", ids: ["1", "2", "3"])
        try await world.finish(first.run)
        let second = try await world.begin("transactionHistory: {}", ids: ["2"], now: .daysAfter(1))
        let holder = world.holder(of: second.run)
        let items = try await world.take(.transactionHistory, 10, for: holder)
        #expect(items.map(\.key) == ["2"])
        #expect(try await world.ledger.summary(of: second.run, app: world.app, job: "nightly-sync").items == 1)
    }

    @Test func `failed items are part of the next run`() async throws {
        let world = try await TestLedger()
        let (items, holder) = try await world.leased(["1", "2"])
        try await world.record(.failed(code: 4_040_010, message: "not found"), of: items[0], requests: 2, for: holder)
        try await world.finish(holder.run)
        let next = try await world.begin("transactionHistory: {}", ids: ["1", "2"], now: .daysAfter(1))
        let state = try await world.rows(
            "SELECT state, error_code, error_message, request_count FROM crawl_items WHERE run_id = \(next.run)"
        )
        #expect(state == ["(waiting,,,0)", "(waiting,,,0)"])
    }

    @Test func `an item that went on in the sandbox comes home when the job no longer tries the sandbox`() async throws
    {
        let world = try await TestLedger()
        let first = try await world.begin("transactionHistory: {}", ids: ["1"])
        try await world.run("UPDATE crawl_items SET other_environment = 'Sandbox'")
        try await world.finish(first.run)
        _ = try await world.begin("transactionHistory: {}", ids: ["1"], now: .daysAfter(1))
        #expect(try await world.rows("SELECT cursor, other_environment FROM crawl_items") == ["(,)"])
    }

    @Test func `jobs keep their items and cursors apart`() async throws {
        let world = try await TestLedger()
        let first = try await world.begin("transactionHistory: {}", ids: ["1"])
        try await world.finish(first.run)
        let other = try await Jobs.load(streams: "transactionHistory: {}", name: "backfill")
        let start = try await world.ledger.beginOrJoin(world.plan(other), ids: .query("SELECT 1"))
        #expect(!start.joined)
        #expect(try await world.rows("SELECT cursor FROM crawl_items WHERE job = 'backfill'") == ["()"])
        #expect(try await world.ledger.jobs(of: world.app) == ["backfill", "nightly-sync"])
    }

    @Test func `refunds of revoked customers are planned once, for the customers seen`() async throws {
        let world = try await TestLedger()
        let streams = "transactionHistory: {}, refundHistory: {for: revoked}"
        var (items, holder) = try await world.leased(["1", "2", "3"], streams: streams)
        var revoked = PageRows(Rows.transaction("1", isRevoked: true))
        revoked.sawRevocation = true
        try await world.commit(revoked, of: &items[0], for: holder)
        var refunded = PageRows(
            Rows.snapshot(Tables.transactions, "20", cells: ["original_transaction_id": .text("O2")])
        )
        refunded.snapshots.append(
            Rows.snapshot(
                Tables.notifications,
                "uuid",
                cells: ["notification_type": .text("REFUND"), "original_transaction_id": .text("O2")]
            )
        )
        try await world.commit(refunded, of: &items[1], for: holder)
        let plan = world.plan(try await Jobs.load(streams: streams))
        #expect(try await world.ledger.planLastPhase(plan, run: holder.run))
        #expect(try await !world.ledger.planLastPhase(plan, run: holder.run))
        let planned = try await world.rows("SELECT item_key FROM crawl_items WHERE stream = 'refundHistory' ORDER BY 1")
        #expect(planned == ["(1)", "(2)"])
    }

    @Test func `a rejected record that a replay accepts has the refunds of its customer requested`() async throws {
        let world = try await TestLedger()
        let streams = "transactionHistory: {}, refundHistory: {for: revoked}"
        let (items, holder) = try await world.leased(["1", "2"], streams: streams)
        for item in items {
            var rows = PageRows()
            if item.key == "1" { rows.rejected = [Rows.rejected("x")] }
            let page = world.page(rows, of: item, for: holder, isLast: true, completeUntil: Jobs.now)
            #expect(try await world.ledger.commit(page) != nil)
        }
        let reject = try #require(try await world.value("SELECT record_id FROM rejected_records").flatMap(Int64.init))
        var revoked = PageRows(Rows.transaction("1", isRevoked: true))
        revoked.sawRevocation = true
        let replay = RowOrigin(
            app: world.app,
            job: holder.job,
            run: nil,
            stream: .transactionHistory,
            listedTransactionID: nil
        )
        _ = try await world.ledger.write(revoked, from: replay, resolving: [reject])
        let plan = world.plan(try await Jobs.load(streams: streams))
        #expect(try await world.ledger.planLastPhase(plan, run: holder.run))
        let planned = try await world.rows("SELECT item_key FROM crawl_items WHERE stream = 'refundHistory'")
        #expect(planned == ["(1)"])
    }

    @Test func `a run ends when every item has ended, and reports its counts`() async throws {
        let world = try await TestLedger()
        let (items, holder) = try await world.leased(["1", "2"])
        var rows = PageRows(Rows.transaction("10"), Rows.transaction("11"))
        rows.rejected = [Rows.rejected("x")]
        let page = world.page(rows, of: items[0], for: holder, isLast: true, completeUntil: Jobs.now, requests: 3)
        #expect(try await world.ledger.commit(page) == RowCounts(new: 2, newlyRejected: ["signature"]))
        let conclude = { (message: String?) in
            try await world.ledger.conclude(
                holder.run,
                app: world.app,
                job: holder.job,
                exitCode: message == nil ? nil : 75,
                message: message
            )
        }
        #expect(try await conclude("stopped").isComplete == false)
        #expect(try await conclude(nil).isComplete == false)
        #expect(try await world.ledger.end(of: holder.run, app: world.app) == .unfinished)

        try await world.record(.failed(code: 1, message: "no"), of: items[1], requests: 2, for: holder)
        #expect(try await conclude("stopped").isComplete)
        #expect(try await world.ledger.end(of: holder.run, app: world.app) == .unfinished)
        let summary = try await conclude(nil)
        #expect(try await world.ledger.end(of: holder.run, app: world.app) == .finished)
        var expected = RunSummary(run: holder.run)
        (expected.listedIDs, expected.items, expected.itemsDone, expected.itemsFailed) = (2, 2, 1, 1)
        (expected.pages, expected.requests, expected.rowsNew, expected.recordsRejected) = (1, 5, 2, 1)
        #expect(summary == expected && summary.hasLosses)
        let filed = try await world.value(
            "SELECT (exit_code, message, items, items_failed, pages, requests, rows_new, records_rejected) FROM runs"
        )
        #expect(filed == "(2,,2,1,1,5,2,1)")
    }
}
