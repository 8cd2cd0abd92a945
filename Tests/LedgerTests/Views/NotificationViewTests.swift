import Postgres
import TestSupport
import Testing

/// The views about notifications, against worlds small enough to be worked out by hand.
@Suite(.migratedDatabase)
struct NotificationViewTests {
    @Test func `consumption_requests: the deadline of twelve hours, and how each request ended`() async throws {
        let world = try await TestLedger()
        try await world.buy("p | - | coins | now -9 days | - | 1000 |")
        try await world.notify(
            """
            a1 | CONSUMPTION_REQUEST | - | now -2 hours  | p | consumption_request_reason=OTHER  # still open
            b1 | CONSUMPTION_REQUEST | - | now -13 hours | b |                                  # too late to answer, nothing decided
            c1 | CONSUMPTION_REQUEST | - | now -5 hours  | c |
            c2 | REFUND              | - | now -4 hours  | c |                                  # decided before the deadline
            d1 | CONSUMPTION_REQUEST | - | now -50 hours | d |
            d2 | REFUND_DECLINED     | - | now -40 hours | d |
            d3 | CONSUMPTION_REQUEST | - | now -30 hours | d |                                  # asked again
            d4 | REFUND              | - | now -20 hours | d |
            e0 | REFUND              | - | now -60 hours | e |                                  # of an earlier request
            e1 | CONSUMPTION_REQUEST | - | now -50 hours | e |
            e2 | REFUND              | - | now -40 hours | e |
            e3 | REFUND_REVERSED     | - | now -10 hours | e |
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT notification_uuid, extract(hour FROM answer_until - requested_at) AS h, ceil(extract(epoch FROM time_left) / 3600) AS left, product_id, price_milliunits,
                       outcome, floor(extract(epoch FROM now() - decided_at) / 3600) AS ago, is_open
                  FROM consumption_requests ORDER BY 1
                """
            ) == [
                "a1 12 10 coins 1000 pending - t", "b1 12 0 - - pending - f", "c1 12 7 - - refunded 4 f",
                "d1 12 0 - - declined 40 f",
                "d3 12 0 - - refunded 20 f", "e1 12 0 - - reversed 10 f",
            ]
        )
    }

    @Test func `consumption_requests: open requests are found by their age`() async throws {
        let world = try await TestLedger()
        try await world.notify(
            (1...300).map { "n\($0) | CONSUMPTION_REQUEST | - | now -\($0) hours | t\($0) |" }.joined(separator: "\n")
        )
        try await world.run("ANALYZE notifications")
        let query = "SELECT notification_uuid FROM consumption_requests WHERE app_id = 1 AND is_open"
        #expect(try await world.rows(query).count == 11)
        let plan = try await world.plan(of: query)
        #expect(plan.contains { $0.contains("Index Cond:") && $0.contains("signed_date > (now() - ") }, "\(plan)")
    }

    /// Attempts of notifications: at once, at the third, tried again since, given up, none that is known, to be tried again,
    /// and read for the last time before and after Apple gave up.
    static func deliver(in world: TestLedger) async throws {
        try await world.notify(
            """
            a | DID_RENEW | -         | 2025-03-01 23:59 | ta | original_transaction_id=oa
            b | DID_RENEW | -         | 2025-03-01 00:00 | tb |
            c | EXPIRED   | VOLUNTARY | now -3 hours     | tc |
            d | REFUND    | -         | 2025-03-01 10:00 | td |
            e | DID_RENEW | -         | 2025-03-02 00:00 | te |
            f | DID_RENEW | -         | now -3 hours     | tf |
            g | REFUND    | -         | now -200 hours   | tg | first_seen_at=now -190 hours
            h | REFUND    | -         | now -200 hours   | th | first_seen_at=now -190 hours
            i | REFUND    | -         | now -200 hours   | ti | first_seen_at=now -190 hours
            """
        )
        try await world.run(
            """
            INSERT INTO notification_send_attempts VALUES
                (1, 'a', '2025-03-02 00:01 UTC', 'SUCCESS'),
                (1, 'b', '2025-03-01 00:01 UTC', 'TIMED_OUT'), (1, 'b', '2025-03-01 01:01 UTC', 'UNSUCCESSFUL_HTTP_RESPONSE_CODE'),
                (1, 'b', '2025-03-01 13:00 UTC', 'SUCCESS'), (1, 'b', '2025-03-02 13:00 UTC', 'SUCCESS'),
                (1, 'c', now() - interval '3 hours', 'NO_RESPONSE'),
                (1, 'd', '2025-03-01 10:00 UTC', 'TLS_ISSUE'),
                (1, 'f', now() - interval '3 hours', 'NO_RESPONSE'), (1, 'f', now() - interval '2 hours', 'NO_RESPONSE'),
                (1, 'g', now() - interval '200 hours', 'TIMED_OUT')
            """
        )
        try await world.run(
            """
            INSERT INTO notification_send_attempts (app_id, notification_uuid, attempt_date, send_attempt_result, read_at) VALUES
                (1, 'h', now() - interval '200 hours', 'OTHER', now() - interval '44 hours'),
                (1, 'i', now() - interval '200 hours', 'OTHER', now() - interval '42 hours')
            """
        )
    }

    @Test func `notification_deliveries: delivered at once, at last, not yet, never, and not known, or not known yet`()
        async throws
    {
        let world = try await TestLedger()
        try await Self.deliver(in: world)
        #expect(
            try await world.answer(
                """
                SELECT notification_uuid, attempts, failed_attempts, extract(epoch FROM time_to_success)::integer / 60 AS minutes, last_failure, replace(state, ' ', '_')
                  FROM notification_deliveries ORDER BY 1
                """
            ) == [
                "a 1 0 2 - delivered", "b 4 2 780 UNSUCCESSFUL_HTTP_RESPONSE_CODE delivered",
                "c 1 1 - NO_RESPONSE not_known_yet",
                "d 1 1 - TLS_ISSUE never_received", "e 0 0 - - unknown", "f 2 2 - NO_RESPONSE retrying",
                "g 1 1 - TIMED_OUT not_known_yet", "h 1 1 - OTHER not_known_yet", "i 1 1 - OTHER never_received",
            ]
        )
        #expect(
            try await world.answer(
                """
                SELECT notification_uuid, replace(state, ' ', '_'), last_failure, round(extract(epoch FROM retried_until - signed_date) / 3600) AS hours
                  FROM undelivered_notifications ORDER BY 1
                """
            ) == [
                "c not_known_yet NO_RESPONSE 157", "d never_received TLS_ISSUE -", "f retrying NO_RESPONSE 157",
                "g not_known_yet TIMED_OUT -", "h not_known_yet OTHER -", "i never_received OTHER -",
            ]
        )
        // The sandbox is tried once.
        try await world.run("UPDATE apps SET environment = 'Sandbox'")
        #expect(
            try await world.answer(
                """
                SELECT state = 'never received' FROM notification_deliveries WHERE notification_uuid = 'c'
                """
            ) == ["t"]
        )
    }

    @Test func `undelivered_notifications begins with failed attempts, and agrees with notification_deliveries`()
        async throws
    {
        let world = try await TestLedger()
        try await world.run(
            """
            INSERT INTO notifications (app_id, notification_uuid, notification_type, signed_date, payload_sha256, payload)
            SELECT 1, 'n' || n, 'DID_RENEW', now() - n * interval '20 minutes', '', '{}' FROM generate_series(1, 1000) n
            """
        )
        try await world.run(
            """
            WITH chance AS MATERIALIZED (SELECT setseed(0.5))
            INSERT INTO notification_send_attempts (app_id, notification_uuid, attempt_date, send_attempt_result)
            SELECT 1, 'n' || n, now() - n * interval '20 minutes' + attempt * interval '1 hour',
                   (ARRAY['SUCCESS', 'TIMED_OUT', 'OTHER', NULL])[1 + floor(random() * 4)::integer]
              FROM chance, generate_series(1, 1000) n, generate_series(0, 5) attempt WHERE random() < 0.4
            """
        )
        let columns = "notification_uuid, state, attempts, last_attempt_at, last_failure"
        let undelivered = try await world.rows("SELECT \(columns) FROM undelivered_notifications")
        let found = try await world.rows(
            "SELECT \(columns) FROM notification_deliveries WHERE state IN ('retrying', 'not known yet', 'never received')"
        )
        #expect(undelivered.sorted() == found.sorted())
        #expect(undelivered.count > 100)
    }

    @Test func `notification_health_by_day: by the day of Apple's signature, in UTC`() async throws {
        let world = try await TestLedger()
        try await Self.deliver(in: world)
        #expect(
            try await world.answer(
                """
                SELECT to_char(day, 'MM-DD') AS d, notification_type, notifications, delivered, delivered_at_once, retrying, not_known_yet, never_received, unknown, attempts, failed_attempts,
                       extract(epoch FROM median_time_to_success)::integer / 60 AS median, extract(epoch FROM longest_time_to_success)::integer / 60 AS longest
                  FROM notification_health_by_day WHERE day < '2026-01-01' ORDER BY 1, 2
                """
            ) == [
                "03-01 DID_RENEW 2 2 1 0 0 0 0 5 2 391 780",  // a took 2 minutes and b 780: 391 between them
                "03-01 REFUND 1 0 0 0 0 1 0 1 1 - -",
                "03-02 DID_RENEW 1 0 0 0 0 0 1 0 0 - -",
            ]
        )
    }
}
