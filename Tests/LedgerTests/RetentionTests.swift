import AppStoreModel
import JobFiles
import LedgerSchema
import Planning
import Postgres
import Streams
import TestSupport
import Testing

@testable import Ledger

/// What the terms of a job's `retention` remove, and what stays.
@Suite(.migratedDatabase)
struct RetentionTests {
    private static let day: Int64 = 86_400_000
    private static let term = Duration.seconds(400 * 86_400)

    private func remove(_ part: Retention.Part, _ world: TestLedger) async throws -> Int64 {
        try await world.ledger.removeOld(part, olderThan: Self.term, job: "nightly-sync", app: world.app).rows
    }

    private func estimate(_ part: Retention.Part, _ world: TestLedger) async throws -> OldRecords {
        let app = world.app
        return try await world.ledger.transaction(.readOnlySnapshot) { connection in
            try Ledger.estimateOld(part, olderThan: Self.term, job: "nightly-sync", app: app, connection)
        }
    }

    private func origin(_ world: TestLedger) -> RowOrigin {
        RowOrigin(app: world.app, job: "nightly-sync", run: 1, stream: .transactionHistory, listedTransactionID: nil)
    }

    /// Stores a snapshot with its payload, signed so many days ago.
    private func write(
        _ world: TestLedger,
        _ key: String,
        daysAgo: Int64,
        hash: UInt8,
        content: UInt8? = nil,
        table: Table = Tables.transactions
    ) async throws {
        let now = try await world.ledger.now().rawValue
        let signed = now - daysAgo * Self.day
        let digest = [UInt8](repeating: content ?? hash, count: 32)
        let kind = RecordKind.ofPayloads(in: table)
        var rows = PageRows(Rows.snapshot(table, key, signed: signed, hash: hash, contentDigest: digest))
        rows.archive = [Rows.archived(kind, key, signed: signed, payload: "{\"n\":\(hash)}", hash: hash)]
        _ = try await world.ledger.write(rows, from: origin(world), mode: .fetched)
    }

    private func hashes(_ world: TestLedger) async throws -> [String] {
        try await world.rows("SELECT record_key, get_byte(payload_sha256, 0) FROM signed_payloads ORDER BY 1, 2")
    }

    @Test(arguments: TestLedger.Layout.allCases)
    func
        `archived payloads older than the term go, and the newest of each record and the payload of each row stay`(
            layout: TestLedger.Layout
        ) async throws
    {
        let world = try await TestLedger(layout)
        // Replaced twice; the second payload is younger than the term.
        for (days, hash) in [(900, 1), (300, 2), (100, 3)] as [(Int64, UInt8)] {
            try await write(world, "replaced", daysAgo: days, hash: hash)
        }
        // Old, and never replaced.
        try await write(world, "alone", daysAgo: 900, hash: 4)
        // The row has the first content, because Apple signed it again after the second one.
        try await write(world, "again", daysAgo: 900, hash: 5, content: 5)
        try await write(world, "again", daysAgo: 600, hash: 6, content: 5)
        try await write(world, "again", daysAgo: 700, hash: 7)
        try await write(world, "renewal", daysAgo: 900, hash: 8, table: Tables.renewals)
        try await write(world, "renewal", daysAgo: 800, hash: 9, table: Tables.renewals)
        let rows = "SELECT transaction_id, get_byte(payload_sha256, 0) FROM transactions ORDER BY 1"
        let before = try await world.rows(rows)
        #expect(try await hashes(world).count == 8)

        let expected = try await estimate(.archive, world)
        #expect(expected.rows == 3 && expected.bytes > 0)
        #expect(
            try await world.ledger.removeOld(.archive, olderThan: Self.term, job: "nightly-sync", app: world.app)
                == expected
        )
        #expect(try await hashes(world) == ["(again,5)", "(alone,4)", "(renewal,9)", "(replaced,2)", "(replaced,3)"])
        #expect(try await world.rows(rows) == before)
        #expect(try await world.count("latest_signatures") == 1)
        #expect(try await remove(.archive, world) == 0)
        #expect(try await estimate(.archive, world).rows == 0)
    }

    @Test func `a payload that refund history returned stays as long as no newer one of refund history replaces it`()
        async throws
    {
        let world = try await TestLedger()
        for (days, hash) in [(900, 1), (800, 2), (700, 3)] as [(Int64, UInt8)] {
            try await write(world, "10", daysAgo: days, hash: hash)
        }
        try await world.run("UPDATE signed_payloads SET is_refund = get_byte(payload_sha256, 0) < 3")
        #expect(try await remove(.archive, world) == 1)
        #expect(try await hashes(world) == ["(10,2)", "(10,3)"])
    }

    @Test func `a removal that stops after a batch continues there, and ends at the end of the table`() async throws {
        let world = try await TestLedger()
        try await world.run(
            """
            INSERT INTO signing_headers (app_id, header_sha256, header) VALUES (1, '', 'e30');
            INSERT INTO signed_payloads (app_id, kind, record_key, signed_date, payload_sha256, header_id, payload, signature)
            SELECT 1, 'transaction', (n / 2)::text, now() - (900 - n % 2) * interval '1 day', sha256(int4send(n)), 1, 'x'::bytea, ''::bytea
              FROM generate_series(0, 99) n
            """
        )
        let batch = "SELECT removed, is_end FROM remove_old_payloads(1, interval '400 days', 30)"
        #expect(try await world.rows(batch) == ["(15,f)"])
        #expect(try await world.rows("SELECT place[1] FROM retention_progress") == ["(transaction)"])
        // A row that another session has locked is left for the next time.
        let writer = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
        try writer.script(
            "SET search_path = appstore; BEGIN; SELECT FROM signed_payloads WHERE record_key = '49' FOR UPDATE"
        )
        #expect(try await remove(.archive, world) == 34)
        try writer.script("ROLLBACK")
        #expect(try await world.rows("SELECT place FROM retention_progress") == ["(\"{\"\"\"\",\"\"\"\"}\")"])
        #expect(try await remove(.archive, world) == 1)
        #expect(try await world.count("signed_payloads") == 50)
    }

    @Test func `of the send attempts, older ones than the term go, and the last one of each notification stays`()
        async throws
    {
        let world = try await TestLedger()
        try await world.run(
            """
            INSERT INTO notifications (app_id, notification_uuid, notification_type, signed_date, payload_sha256, payload)
            SELECT 1, 'n' || n, 'TEST', now() - n * interval '450 days', '', '{}' FROM generate_series(1, 2) n;
            INSERT INTO notification_send_attempts (app_id, notification_uuid, attempt_date, send_attempt_result)
            SELECT 1, 'n' || n, now() - n * interval '450 days' + k * interval '60 days', CASE k WHEN 3 THEN 'SUCCESS' ELSE 'TIMED_OUT' END
              FROM generate_series(1, 2) n, generate_series(1, 3) k
            """
        )
        _ = try await world.ledger.refreshViews()
        #expect(try await estimate(.sendAttempts, world).rows == 2)
        #expect(try await remove(.sendAttempts, world) == 2)
        #expect(
            try await world.rows(
                "SELECT notification_uuid, count(*), max(send_attempt_result) FROM notification_send_attempts GROUP BY 1 ORDER BY 1"
            )
                == ["(n1,3,TIMED_OUT)", "(n2,1,SUCCESS)"]
        )
        #expect(try await world.ledger.verifyViews() == [])
    }

    @Test func `items that a superseded run left unfinished go after the term, and items of other runs stay`()
        async throws
    {
        let world = try await TestLedger()
        let first = try await world.begin("transactionHistory: {}", ids: ["1", "2", "3"])
        let second = try await world.begin("transactionHistory: {}", ids: ["1"], restart: true)
        #expect(first.run < second.run)
        #expect(try await remove(.items, world) == 0)
        try await world.run("UPDATE runs SET finished_at = now() - interval '500 days' WHERE run_id = \(first.run)")
        #expect(try await estimate(.items, world).rows == 2)
        #expect(try await remove(.items, world) == 2)
        #expect(try await world.rows("SELECT item_key, state FROM crawl_items") == ["(1,waiting)"])
    }

    /// Notifications of version 2 that were received and became records, so many days ago, each at noon.
    private func receive(_ world: TestLedger, daysAgo: [Int]) async throws {
        for days in daysAgo {
            let at = "date_trunc('day', now(), 'UTC') - interval '\(days) days' + interval '12 hours'"
            try await world.run(
                """
                INSERT INTO notifications (app_id, notification_uuid, notification_type, signed_date, payload_sha256, payload)
                SELECT 1, 'n\(days)', 'TEST', \(at), '', '{}';
                INSERT INTO received_notifications (app_id, notification_uuid, version, notification_type, signed_date, received_at,
                                                    last_received_at, body_sha256, normalised_at)
                SELECT 1, 'n\(days)', 2, 'TEST', \(at), \(at), \(at), '', now()
                """
            )
        }
    }

    private func received(_ world: TestLedger) async throws -> [String] {
        try await world.rows("SELECT notification_uuid FROM received_notifications ORDER BY received_at")
    }

    @Test func `of the received notifications the oldest go, and the newest of them stays as the receiver's beginning`()
        async throws
    {
        let world = try await TestLedger()
        try await receive(world, daysAgo: [900, 800, 500, 300, 10])
        // One of version 1, and one that was refused; both are old.
        try await world.run(
            """
            INSERT INTO received_notifications (app_id, notification_uuid, version, received_at, last_received_at, body_sha256, normalised_at,
                                                refused_because)
            SELECT 1, k, 1, now() - interval '850 days', now() - interval '850 days', '', CASE k WHEN 'v1-1' THEN now() END,
                   CASE k WHEN 'refused-1' THEN 'password' END FROM unnest(ARRAY['v1-1', 'refused-1']) k
            """
        )
        let expected = try await estimate(.receivedNotifications, world)
        #expect(expected.rows == 3 && expected.bytes > 0)
        #expect(try await remove(.receivedNotifications, world) == 3)
        #expect(try await received(world) == ["(refused-1)", "(n500)", "(n300)", "(n10)"])
        #expect(try await remove(.receivedNotifications, world) == 0)
        #expect(try await estimate(.receivedNotifications, world).rows == 0)
        #expect(try await world.count("notifications") == 5)
    }

    @Test func `a received notification stays until it is normalised, and as long as Apple serves its day`()
        async throws
    {
        let world = try await TestLedger()
        try await receive(world, daysAgo: [900, 800, 700, 600])
        try await world.run("UPDATE received_notifications SET normalised_at = NULL WHERE notification_uuid = 'n800'")
        // Those after it stay too, so that the receiver does not seem to begin later than a notification that it has.
        #expect(try await remove(.receivedNotifications, world) == 0)
        try await world.run("UPDATE received_notifications SET normalised_at = now()")
        try await receive(world, daysAgo: [183, 182, 180])
        let short = "SELECT removed FROM remove_old_received(1, interval '1 day', 100)"
        #expect(try await world.rows(short) == ["(5)"])
        #expect(try await received(world) == ["(n182)", "(n180)"])
    }

    @Test func `a received notification stays until reconcile has the last result of its day`() async throws {
        let world = try await TestLedger()
        try await receive(world, daysAgo: [900, 800, 700, 600])
        /// Compares a day so many days ago, for the last time so many days after its end.
        func compare(_ days: Int, after: Int, again: Int = 0) async throws {
            try await world.run(
                """
                INSERT INTO notification_reconciliation (app_id, day, notification_type, received, in_history, received_and_in_history, recovered,
                    recovered_by_result, answered_but_missing, to_be_read_again, unexplained, unprovable, checked_at)
                SELECT 1, d, 'TEST', 1, 1, 1, 0, '{}', 0, \(again), 0, 0, d::timestamp AT TIME ZONE 'UTC' + interval '\(after + 1) days'
                  FROM (SELECT (now() AT TIME ZONE 'UTC')::date - \(days) AS d) t
                ON CONFLICT (app_id, day, notification_type) DO UPDATE SET checked_at = excluded.checked_at, to_be_read_again = excluded.to_be_read_again
                """
            )
        }
        try await compare(900, after: 8)
        try await compare(800, after: 7)
        #expect(try await remove(.receivedNotifications, world) == 0)
        try await compare(800, after: 8, again: 1)
        #expect(try await remove(.receivedNotifications, world) == 0)
        try await compare(800, after: 8)
        // The day of the third one was never compared.
        #expect(try await remove(.receivedNotifications, world) == 1)
        #expect(try await received(world) == ["(n800)", "(n700)", "(n600)"])
        try await compare(700, after: 100)
        try await compare(600, after: 100)
        #expect(try await remove(.receivedNotifications, world) == 2)
        #expect(try await received(world) == ["(n600)"])
    }

    @Test func `a term shorter than a day counts as a day`() async throws {
        let world = try await TestLedger()
        try await write(world, "10", daysAgo: 3, hash: 1)
        try await write(world, "10", daysAgo: 0, hash: 2)
        try await write(world, "11", daysAgo: 0, hash: 3)
        try await write(world, "11", daysAgo: 0, hash: 4)
        #expect(try await world.rows("SELECT removed FROM remove_old_payloads(1, interval '-5 days', 100)") == ["(1)"])
        #expect(try await hashes(world).count == 3)
    }
}
