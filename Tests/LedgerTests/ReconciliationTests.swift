import AppStoreModel
import Inbox
import Ledger
import Planning
import Status
import Streams
import TestSupport
import Testing

@testable import Erasure

/// Received notifications compared with Apple's history: each set, the second night, and the end of what can be proved.
///
/// ``Jobs/now`` is 2026-05-28T20:26:40Z; the day before is closed.
@Suite(.migratedDatabase)
struct ReconciliationTests {
    /// A ledger whose nightly job has read Apple's history until ``Jobs/now``.
    private struct Scene {
        let world: TestLedger
        static let day = "2026-05-27"

        init(_ layout: TestLedger.Layout = .plain, read: Bool = true) async throws {
            world = try await TestLedger(layout)
            if read { try await run(at: Jobs.now) }
        }

        /// A run of the nightly job, to its end.
        func run(
            at now: UnixMilliseconds,
            streams: String = "notificationHistory: {scope: app, startDate: lastRun}"
        ) async throws {
            let start = try await world.begin(streams, now: now)
            try await world.finish(start.run, cursor: nil)
        }

        /// Stores a received notification, signed at noon of a day.
        func receive(
            _ uuid: String,
            _ type: String = "DID_RENEW",
            day: String = day,
            at time: String = "12:00",
            after delay: String = "1 second",
            normalized: Bool = true,
            refused: String? = nil
        ) async throws {
            try await world.run(
                """
                INSERT INTO received_notifications (app_id, notification_uuid, version, notification_type, signed_date, received_at,
                                                    last_received_at, refused_because, body_sha256, normalised_at)
                SELECT 1, '\(uuid)', 2, '\(type)', moment, moment + interval '\(delay)', moment + interval '\(delay)',
                       \(refused.map { "'\($0)'" } ?? "NULL"), '', \(normalized ? "moment + interval '2 seconds'" : "NULL")
                  FROM (SELECT '\(day) \(time) UTC'::timestamptz AS moment) m
                """
            )
            if normalized, refused == nil { try await record(uuid, type, day: day, at: time) }
        }

        /// Stores a notification as a record, as the receiver and the crawl do.
        func record(
            _ uuid: String,
            _ type: String = "DID_RENEW",
            day: String = day,
            at time: String = "12:00"
        ) async throws {
            try await world.run(
                """
                INSERT INTO notifications (app_id, notification_uuid, notification_type, signed_date, payload_sha256, payload)
                VALUES (1, '\(uuid)', '\(type)', '\(day) \(time) UTC', '', '{}') ON CONFLICT DO NOTHING
                """
            )
        }

        /// Stores a notification as the crawl finds it in the history, with the results of Apple's attempts, an hour apart.
        func list(
            _ uuid: String,
            _ type: String = "DID_RENEW",
            day: String = day,
            at time: String = "12:00",
            attempts results: [String] = ["SUCCESS"]
        ) async throws {
            try await record(uuid, type, day: day, at: time)
            for (hour, result) in results.enumerated() {
                try await world.run(
                    """
                    INSERT INTO notification_send_attempts (app_id, notification_uuid, attempt_date, send_attempt_result)
                    VALUES (1, '\(uuid)', '\(day) \(time) UTC'::timestamptz + \(hour) * interval '1 hour', '\(result)')
                    """
                )
            }
        }

        func reconcile(final: Bool = false, now: UnixMilliseconds = Jobs.now) async throws -> Reconciliation {
            try await world.ledger.reconcile(
                app: world.app,
                bundleId: "com.example.game",
                environment: .production,
                isFinal: final,
                now: now
            )
        }

        /// The stored row of a day and type.
        func stored(_ type: String = "DID_RENEW", day: String = day) async throws -> String? {
            try await world.rows(
                """
                SELECT received, in_history, received_and_in_history, recovered, answered_but_missing, to_be_read_again, unexplained,
                       unprovable FROM notification_reconciliation WHERE day = '\(day)' AND notification_type = '\(type)'
                """
            ).first
        }
    }

    @Test(arguments: TestLedger.Layout.allCases)
    func `each set of a day is counted by type, and only losses and unexplained ones are findings`(
        _ layout: TestLedger.Layout
    ) async throws {
        let scene = try await Scene(layout)
        try await scene.receive("first", at: "00:00")
        try await scene.list("first", at: "00:00")
        try await scene.receive("both")
        try await scene.list("both", attempts: ["TIMED_OUT", "SUCCESS"])
        try await scene.list("withheld", attempts: ["NO_RESPONSE", "TIMED_OUT"])
        try await scene.list("given up", "REFUND", attempts: ["NO_RESPONSE"])
        try await scene.receive("forged", refused: "signature")
        let clean = try await scene.reconcile()
        #expect(!clean.hasFindings && clean.days.map(\.state) == [.clean])
        #expect(try await scene.stored() == "(2,3,2,1,0,0,0,0)")
        #expect(try await scene.stored("REFUND") == "(0,1,0,1,0,0,0,0)")
        let types = try #require(clean.days.first).types
        #expect(types.map(\.recoveredByResult) == [["TIMED_OUT": 1], ["NO_RESPONSE": 1]])

        try await scene.list("lost", attempts: ["TIMED_OUT", "SUCCESS"])
        let lossy = try await scene.reconcile()
        #expect(lossy.hasFindings && lossy.days.map(\.state) == [.missing])
        #expect(try await scene.stored() == "(2,4,2,1,1,0,0,0)")
        #expect(lossy.days.first?.types.first?.missingExample == "lost")
        #expect(
            try await scene.world.rows(
                "SELECT is_proven FROM notification_completeness_by_day ORDER BY notification_type"
            ) == ["(f)", "(t)"]
        )
    }

    @Test func `what the history does not list is read again by the next run, and reported after that`() async throws {
        let scene = try await Scene()
        try await scene.receive("early")
        try await scene.list("early")
        try await scene.receive("odd")
        let first = try await scene.reconcile()
        #expect(!first.hasFindings && first.days.map(\.state) == [.toBeReadAgain])
        #expect(try await scene.stored() == "(2,1,1,0,0,1,0,0)")
        // Again before the next run: nothing new is known.
        #expect(try await scene.reconcile(now: .daysAfter(0.01)).days.map(\.state) == [.toBeReadAgain])

        let start = try await scene.world.begin(
            "notificationHistory: {scope: app, startDate: lastRun}",
            now: .daysAfter(1)
        )
        let items = try await scene.world.take(.notificationHistory, 100, for: scene.world.holder(of: start.run))
        let again = items.filter { $0.reading == .again }.compactMap(\.window)
        let midnight = UnixMilliseconds(rawValue: Jobs.now.rawValue / 86_400_000 * 86_400_000)
        #expect(again == [(midnight - .seconds(86_400))..<midnight])
        try await scene.world.finish(start.run, cursor: nil)
        let second = try await scene.reconcile(now: .daysAfter(1.1))
        #expect(second.hasFindings)
        #expect(second.days.map(\.state).contains(.unexplained))
        #expect(try await scene.stored() == "(2,1,1,0,0,0,1,0)")
        #expect(second.days.first?.types.first?.notListedExample == "odd")

        // It is not read a third time.
        let third = try await scene.world.begin(
            "notificationHistory: {scope: app, startDate: lastRun}",
            now: .daysAfter(2)
        )
        let more = try await scene.world.take(.notificationHistory, 100, for: scene.world.holder(of: third.run))
        #expect(!more.contains { $0.reading == .again })
    }

    @Test func `what the second reading finds is explained`() async throws {
        let scene = try await Scene()
        try await scene.receive("late")
        #expect(try await scene.reconcile().days.map(\.state) == [.toBeReadAgain])
        try await scene.run(at: .daysAfter(1))
        try await scene.list("late")
        let second = try await scene.reconcile(now: .daysAfter(1.1))
        #expect(!second.hasFindings && second.days.first?.state == .clean)
        #expect(try await scene.stored() == "(1,1,1,0,0,0,0,0)")
        #expect(try await scene.world.count("notification_reconciliation WHERE not_listed_since IS NOT NULL") == 0)
    }

    @Test func `final reports at once what the history does not list`() async throws {
        let scene = try await Scene()
        try await scene.receive("odd")
        let result = try await scene.reconcile(final: true)
        #expect(result.hasFindings && result.days.map(\.state) == [.unexplained])
    }

    @Test func `a notification that a failed attempt brought to the history, and a retry to the receiver, is in both`()
        async throws
    {
        let scene = try await Scene()
        try await scene.receive("first", at: "00:00")
        try await scene.list("first", at: "00:00")
        try await scene.list("retried", attempts: ["TIMED_OUT"])
        _ = try await scene.reconcile()
        #expect(try await scene.stored() == "(1,2,1,1,0,0,0,0)")
        try await scene.receive("retried", after: "25 hours")
        _ = try await scene.reconcile(now: .daysAfter(2))
        #expect(try await scene.stored() == "(2,2,2,0,0,0,0,0)")
    }

    @Test func `attempts before the receiver's first receipt went to another server`() async throws {
        let scene = try await Scene()
        try await scene.list("elsewhere", at: "08:00")
        try await scene.list("retried here", at: "10:30", attempts: ["TIMED_OUT", "NO_RESPONSE", "NO_RESPONSE"])
        try await scene.receive("first", at: "07:00", after: "5 hours")
        try await scene.list("first", at: "07:00")
        let result = try await scene.reconcile()
        #expect(!result.hasFindings)
        #expect(try await scene.stored() == "(1,2,1,1,0,0,0,0)")
    }

    @Test func `a test notification that the history does not list is not a finding`() async throws {
        let scene = try await Scene()
        try await scene.receive("probe", "TEST")
        let result = try await scene.reconcile(final: true)
        #expect(!result.hasFindings && result.days.map(\.state) == [.clean])
        #expect(try await scene.stored("TEST") == "(1,0,0,0,0,0,0,0)")
    }

    @Test func `records of erased customers are on neither side`() async throws {
        let scene = try await Scene()
        try await scene.receive("kept")
        try await scene.list("kept")
        try await scene.receive("erased")
        try await scene.world.run("DELETE FROM notifications WHERE notification_uuid = 'erased'")
        #expect(try await scene.reconcile(final: true).hasFindings == false)
        #expect(try await scene.stored() == "(1,1,1,0,0,0,0,0)")
    }

    @Test func `an erasure of the customer of the first receipt hides no notification that was lost afterwards`()
        async throws
    {
        let scene = try await Scene()
        try await scene.receive("first", at: "06:00")
        try await scene.world.run(
            "UPDATE received_notifications SET original_transaction_id = '100000000001' WHERE notification_uuid = 'first'"
        )
        // Apple has posted it between the first and the second receipt, and it was answered.
        try await scene.list("lost", at: "09:00")
        try await scene.receive("second", at: "12:00")
        try await scene.list("second")
        try await scene.list("first", at: "06:00")
        _ = try await scene.world.ledger.erase([.transaction("100000000001")], in: [scene.world.app])
        try await scene.world.run("DELETE FROM notifications WHERE notification_uuid = 'first'")
        let found = try await scene.reconcile(final: true)
        #expect(found.days.first?.state == .missing)
        #expect(found.days.first?.types.first?.answeredButMissing == 1)
        #expect(try await scene.stored() == "(1,2,1,0,1,0,0,0)")
        // Again, and when the only receipts were the customer's.
        _ = try await scene.world.ledger.erase([.transaction("100000000001")], in: [scene.world.app])
        try await scene.world.run("DELETE FROM received_notifications WHERE notification_uuid = 'second'")
        #expect(try await scene.reconcile(final: true).days.first?.types.first?.answeredButMissing == 2)
    }

    @Test func `a day that is not over is not compared, and one that no run has read is named`() async throws {
        let scene = try await Scene(read: false)
        try await scene.receive("now", day: "2026-05-28", at: "01:00")
        #expect(try await scene.reconcile().days == [])
        try await scene.receive("before")
        let unread = try await scene.reconcile()
        #expect(unread.notRead == [Scene.day] && !unread.hasFindings)
        #expect(try await scene.world.count("notification_reconciliation") == 0)
        // A filtered job does not have all notifications.
        try await scene.run(at: Jobs.now, streams: "notificationHistory: {scope: app, onlyFailures: true}")
        #expect(try await scene.reconcile().notRead == [Scene.day])
        try await scene.run(at: Jobs.now, streams: "notificationHistory: {scope: app, startDate: -3d}")
        #expect(try await scene.reconcile().notRead == [])
    }

    @Test func `days are checked until Apple's retries and the last reading are over`() async throws {
        let scene = try await Scene()
        try await scene.receive("one")
        try await scene.list("one")
        for night in 1...9 {
            try await scene.run(at: .daysAfter(Double(night)))
            let checked = try await scene.reconcile(now: .daysAfter(Double(night) + 0.1)).days.map(\.day)
            #expect(checked.contains(Scene.day) == (night < 9), "night \(night)")
        }
    }

    @Test func `a day that Apple no longer serves is counted apart`() async throws {
        let scene = try await Scene()
        try await scene.receive("old", day: "2025-10-01")
        let result = try await scene.reconcile(final: true)
        #expect(!result.hasFindings && result.days.map(\.state) == [.unprovable])
        #expect(try await scene.stored(day: "2025-10-01") == "(1,0,0,0,0,0,0,1)")
    }

    @Test func `a ledger without a received notification has nothing to compare`() async throws {
        let scene = try await Scene()
        try await scene.list("listed")
        await #expect(throws: NothingReceived.self) { try await scene.reconcile() }
    }

    @Test func `customers of received notifications that are not stored yet are requested`() async throws {
        let world = try await TestLedger()
        let job = try await Jobs.load(
            streams: "transactionHistory: {}, notificationHistory: {scope: app}",
            changedSince: "lastRun"
        )
        try await world.run(
            """
            INSERT INTO received_notifications (app_id, notification_uuid, version, signed_date, original_transaction_id, received_at,
                                                last_received_at, refused_because, body_sha256, normalised_at)
            VALUES (1, 'v1-a', 1, NULL, '11', now(), now(), NULL, '', NULL), (1, 'b', 2, now(), '12', now(), now(), NULL, '', NULL),
                   (1, 'refused-c', 2, NULL, '13', now(), now(), 'signature', '', NULL),
                   (1, 'd', 2, now(), '14', now(), now(), NULL, '', now())
            """
        )
        let start = try await world.ledger.beginOrJoin(world.plan(job), ids: .none)
        try await world.run(
            "UPDATE crawl_items SET state = 'done', claimable_at = NULL, complete_until = window_end WHERE state = 'waiting'"
        )
        _ = try await world.ledger.planChangedCustomers(world.plan(job), run: start.run)
        let items = try await world.take(.transactionHistory, 10, for: world.holder(of: start.run))
        #expect(items.map(\.key).sorted() == ["11", "12"])
    }

    @Test func `status has the time from Apple's signature to the row, and what was reconciled`() async throws {
        let scene = try await Scene()
        try await scene.world.run(
            """
            INSERT INTO received_notifications (app_id, notification_uuid, version, signed_date, received_at, last_received_at,
                                                body_sha256, normalised_at)
            SELECT 1, 'n' || n, 2, now() - n * interval '1 second', now(), now(), '', now() FROM generate_series(1, 9) n
            """
        )
        let status = try await scene.world.ledger.status(
            of: "nightly-sync",
            app: scene.world.app,
            bundleId: "com.example.game",
            environment: "Production"
        )
        let receiver = try #require(status.receiver)
        #expect(receiver.storedLastDay == 9 && receiver.medianSecondsToRow == 5 && receiver.worstSecondsToRow == 9)
        #expect(receiver.reconciledDay == nil)
    }
}
