import AppStoreModel
import Erasure
import JobFiles
import Ledger
import LedgerSchema
import Migrations
import Postgres
import Streams
import TestSupport
import Testing

/// Apple's own status of a subscription, next to the state that the signed records give.
@Suite(.migratedDatabase)
struct StatusViewTests {
    private static let states = """
        SELECT original_transaction_id, replace(status, ' ', '_'), split_part(known_from, ' ', 1), round(extract(epoch FROM now() - signed_date) / 86400),
               is_reported_by_apple
          FROM current_subscriptions ORDER BY 1
        """

    private static let counts = """
        SELECT replace(status, ' ', '_'), sum(subscriptions), sum(reported_by_apple), sum(mrr_milliunits)
          FROM subscriptions_by_status GROUP BY status ORDER BY 1
        """

    @Test
    func
        `a missed notification: Apple's status shows billing retry, grace period and revocation, and is named`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | plus.monthly | now -40 days | now -10 days  | 10000 |  # DID_FAIL_TO_RENEW was missed
            b1 | b | plus.monthly | now -32 days | now -2 days   | 10000 |  # the same, with a grace period
            c1 | c | plus.yearly  | now -20 days | now +345 days | 60000 |  # REFUND was missed
            d1 | d | plus.monthly | now -20 days | now +10 days  | 10000 |
            e1 | e | plus.monthly | now -40 days | now -10 days  | 10000 |
            """
        )
        #expect(
            try await world.answer(Self.states) == [
                "a expired expiresDate 40 f", "b expired expiresDate 32 f", "c active expiresDate 20 f",
                "d active expiresDate 20 f", "e expired expiresDate 40 f",
            ]
        )
        #expect(try await world.answer(Self.counts) == ["active 2 0 15000", "expired 3 0 0"])
        try await world.reportStatuses(
            """
            a | 3 | a1 | now -1 days
            b | 4 | b1 | now -1 days
            c | 5 | c1 | now -1 days
            d | 1 | d1 | now -1 days
            e | 2 | e1 | now -1 days
            """
        )
        #expect(
            try await world.answer(Self.states) == [
                "a billing_retry status 1 t", "b grace_period status 1 t", "c revoked status 1 t",
                "d active status 1 t", "e expired status 1 t",
            ]
        )
        // The revoked subscription has no MRR, and its month says that only an unsigned status tells so.
        #expect(
            try await world.answer(
                """
                SELECT sum(subscriptions), sum(mrr_milliunits), sum(reported_by_apple), sum(not_active_by_apple)
                  FROM mrr_at_risk_by_month
                """
            ) == ["1 10000 1 1"]
        )
        #expect(
            try await world.answer(Self.counts) == [
                "active 1 1 10000", "billing_retry 1 1 0", "expired 1 1 0", "grace_period 1 1 10000", "revoked 1 1 0",
            ]
        )
        #expect(
            try await world.rows("SELECT DISTINCT known_from FROM current_subscriptions")
                == ["(\"status of Get All Subscription Statuses\")"]
        )
    }

    @Test
    func `a status that is older than a signed record, or that time has overtaken, leaves the state of the records`()
        async throws
    {
        let world = try await TestLedger()
        // Seconds count here, and the clock advances between two statements.
        let answered = try #require(
            try await world.value("to_char((now() - interval '5 days') AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')")
        )
        let tenSecondsLater = try #require(try await world.value("timestamp '\(answered)' + interval '10 seconds'"))
        let halfAMinuteEarlier = try #require(try await world.value("timestamp '\(answered)' - interval '30 seconds'"))
        try await world.buy(
            """
            a1 | a | plus.monthly | now -40 days  | now -10 days | 10000 |  # renewal info is newer than the status
            b1 | b | plus.monthly | now -40 days  | now -10 days | 10000 | signed_date=now -4 days  # the transaction is
            c1 | c | plus.monthly | now -40 days  | now -10 days | 10000 |  # active when Apple answered, expired since
            d1 | d | plus.monthly | now -40 days  | now -10 days | 10000 |  # the grace period has ended since
            e1 | e | plus.monthly | now -99 days  | now -69 days | 10000 |  # no payment is retried for so long
            f1 | f | plus.monthly | now -10 days  | now +20 days | 10000 | revocation_date=now -2 days  # refunded since
            g1 | g | plus.monthly | now -40 days  | now -10 days | 10000 |
            g2 | g | plus.monthly | now -5 days   | now +25 days | 10000 | signed_date=now -7 days  # renewed since, signed before it began
            h1 | h | plus.monthly | now -99 days  | now -69 days | 10000 |  # expired: that does not pass
            i1 | i | plus.monthly | now -40 days  | now -10 days | 10000 |  # Apple gave up half a minute after the answer
            j1 | j | plus.monthly | now -40 days  | now -10 days | 10000 |  # the database's clock is half a minute behind Apple's
            k1 | k | plus.monthly | now -10 days  | now +20 days | 10000 |  # REFUND_REVERSED ten seconds after the answer
            """
        )
        try await world.renewal(
            """
            a | now -3 days  | is_in_billing_retry_period=true
            d | now -9 days  | is_in_billing_retry_period=true, grace_period_expires_date=now -3 days
            h | now -66 days | is_in_billing_retry_period=true
            i | \(answered) | is_in_billing_retry_period=false
            j | \(answered) | is_in_billing_retry_period=false
            k | \(tenSecondsLater) | auto_renew_status=1
            """
        )
        try await world.reportStatuses(
            """
            a | 2 | a1 | now -5 days
            b | 3 | b1 | now -5 days
            c | 1 | c1 | now -12 days
            d | 4 | d1 | now -8 days
            e | 3 | e1 | now -65 days
            f | 1 | f1 | now -3 days
            g | 2 | g1 | now -6 days
            h | 2 | h1 | now -65 days
            i | 3 | i1 | \(halfAMinuteEarlier)
            j | 3 | j1 | \(halfAMinuteEarlier) | \(answered)
            k | 5 | k1 | \(answered)
            """
        )
        #expect(
            try await world.answer(Self.states) == [
                "a billing_retry isInBillingRetryPeriod 3 f", "b expired expiresDate 4 f", "c expired expiresDate 40 f",
                "d billing_retry isInBillingRetryPeriod 9 f", "e expired expiresDate 99 f",
                "f revoked revocationDate 10 f",
                "g active expiresDate 7 f", "h expired status 65 t", "i expired expiresDate 40 f",
                "j billing_retry status 5 t", "k active expiresDate 10 f",
            ]
        )
        #expect(
            try await world.answer(Self.counts)
                == ["active 2 0 20000", "billing_retry 3 1 0", "expired 5 1 0", "revoked 1 0 0"]
        )
    }

    @Test
    func `a status outside 1 to 5 leaves the state of the records, and one without an expiresDate is Apple's alone`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | plus.monthly | now -40 days | now -10 days | 10000 |
            b1 | b | plus.monthly | now -10 days | -            | 10000 | type=Auto-Renewable Subscription
            c1 | c | plus.monthly | now -10 days | -            | 10000 | type=Auto-Renewable Subscription
            d1 | d | plus.monthly | now -40 days | now -10 days | 10000 |
            """
        )
        try await world.reportStatuses(
            """
            a | 9 | a1 | now -1 days
            b | 1 | b1 | now -1 days
            c | 0 | c1 | now -1 days
            d | 1 | d1 | now -1 days
            """
        )
        #expect(
            try await world.answer(Self.states) == [
                "a expired expiresDate 40 f", "b active status 1 t", "c unknown nothing: 10 f", "d active status 1 t",
            ]
        )
        #expect(
            try await world.answer(
                "SELECT status, subscriptions, reported_by_apple FROM subscriptions_by_status ORDER BY 1"
            )
                == ["active 2 2", "expired 1 0", "unknown 1 0"]
        )
        // When their MRR ends is not known.
        #expect(try await world.answer("SELECT month FROM mrr_at_risk_by_month") == [])
    }

    @Test func `a renewal that only the status call has revealed is a period, and the subscription is active`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy("a1 | a | plus.monthly | now -35 days | now -5 days | 10000 |")
        #expect(try await world.answer(Self.states) == ["a expired expiresDate 35 f"])
        let (start, end) = try await (world.instant("now -5 days"), world.instant("now +25 days"))
        let asked = try await world.instant("now -1 days").rawValue
        let transaction = Rows.snapshot(
            Tables.transactions,
            "a2",
            signed: asked - 200,
            cells: [
                "original_transaction_id": .text("a"), "product_id": .text("plus.monthly"),
                "type": .text("Auto-Renewable Subscription"), "transaction_reason": .text("RENEWAL"),
                "purchase_date": .timestamp(start.rawValue), "expires_date": .timestamp(end.rawValue),
                "price_milliunits": .bigint(10_000), "currency": .text("USD"), "storefront": .text("USA"),
            ]
        )
        let renewal = Rows.snapshot(
            Tables.renewals,
            "a",
            signed: asked - 200,
            cells: ["auto_renew_status": .integer(1), "renewal_date": .timestamp(end.rawValue)]
        )
        try await world.reportStatus(
            1,
            of: "a",
            transaction: "a2",
            asked: "now -1 days",
            signed: [transaction, renewal]
        )
        #expect(try await world.answer(Self.states) == ["a active status 1 t"])
        #expect(
            try await world.answer("SELECT periods, transaction_id, will_renew FROM current_subscriptions") == [
                "2 a2 t"
            ]
        )
        #expect(try await world.answer(Self.counts) == ["active 1 1 10000"])
        #expect(try await world.answer("SELECT original_transaction_id, will_renew FROM renewals_due") == ["a t"])
    }

    @Test
    func `renewals_due: a subscription that a newer status calls expired or revoked does not renew, and is marked`()
        async throws
    {
        let world = try await TestLedger()
        try await world.renewal(
            """
            a | now -2 days | renewal_date=now +3 days, auto_renew_status=1
            b | now -2 days | renewal_date=now +4 days, auto_renew_status=1
            c | now -2 days | renewal_date=now +5 days, auto_renew_status=1
            d | now -2 days | renewal_date=now +6 days, auto_renew_status=1
            """
        )
        let due = """
            SELECT original_transaction_id, will_renew, apple_status, split_part(known_from, ' ', 1) FROM renewals_due ORDER BY 1
            """
        #expect(
            try await world.answer(due) == [
                "a t - autoRenewStatus", "b t - autoRenewStatus", "c t - autoRenewStatus", "d t - autoRenewStatus",
            ]
        )
        try await world.reportStatuses(
            """
            a | 5 | a1 | now -1 days
            b | 2 | b1 | now -1 days
            c | 2 | c1 | now -3 days  # bought again since
            d | 1 | d1 | now -1 days
            """
        )
        #expect(
            try await world.answer(due) == [
                "a f revoked status", "b f expired status", "c t - autoRenewStatus", "d t - autoRenewStatus",
            ]
        )
    }

    @Test func `billing retry ends with the first answer for the filter that lacks the subscription`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            "500 | 500 | plus.monthly | now -40 days | now -10 days | 10000 | listed_transaction_id=500"
        )
        try await world.reportStatuses("500 | 3 | 500 | now -2 days")
        #expect(try await world.answer(Self.states) == ["500 billing_retry status 2 t"])
        let job = try await Jobs.load(streams: "subscriptionStatuses: {status: [1, 3, 4]}")
        let origin = RowOrigin(
            app: world.app,
            job: job.name,
            run: 9,
            stream: .subscriptionStatuses,
            listedTransactionID: "500",
            readAt: try await world.instant("now -1 days"),
            listedStatuses: job.streams[.subscriptionStatuses]?.listedStatuses
        )
        #expect(try await world.ledger.write(PageRows(), from: origin, mode: .fetched).updated == 1)
        #expect(try await world.answer(Self.states) == ["500 expired expiresDate 40 f"])
        #expect(try await world.answer(Self.counts) == ["expired 1 0 0"])
    }

    @Test func `a changed status makes the views stale, an equal one does not, and an older one changes nothing`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy("a1 | a | plus.monthly | now -40 days | now -10 days | 10000 |")
        #expect(try await world.answer(Self.counts) == ["expired 1 0 0"])
        let report = { (status: Int32, asked: String) in
            try await world.reportStatus(status, of: "a", transaction: "a1", asked: asked)
        }
        #expect(try await report(3, "now -4 days") == RowCounts(new: 1))
        #expect(try await world.ledger.refreshViewsIfStale() == .upToDate(times: 1))
        #expect(try await world.rows(Self.counts) == ["(billing_retry,1,1,0)"])
        #expect(try await report(3, "now -3 days") == RowCounts(unchanged: 1))
        #expect(try await report(2, "now -5 days") == RowCounts(unchanged: 1))
        #expect(try await !world.ledger.viewsAreStale())
        #expect(try await report(2, "now -2 days") == RowCounts(updated: 1))
        #expect(try await world.ledger.refreshViewsIfStale() == .upToDate(times: 1))
        #expect(try await world.rows(Self.counts) == ["(expired,1,1,0)"])
        let refreshed = try await world.rows("SELECT view, refreshed_at FROM view_freshness ORDER BY 1")
        _ = try await Migrator(ledger: world.ledger, directory: try TestLedger.sql).migrate()
        #expect(try await world.rows("SELECT view, refreshed_at FROM view_freshness ORDER BY 1") == refreshed)
    }

    @Test func `an erased customer's status is in no view, and the other customers keep theirs`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            500 | 500 | plus.monthly | now -40 days | now -10 days | 10000 |
            600 | 600 | plus.monthly | now -40 days | now -10 days | 10000 |
            """
        )
        try await world.reportStatuses(
            """
            500 | 3 | 500 | now -1 days
            600 | 3 | 600 | now -1 days
            """
        )
        #expect(try await world.answer(Self.counts) == ["billing_retry 2 2 0"])
        _ = try await world.ledger.erase([.transaction(try #require(TransactionID("500")))], in: [world.app])
        #expect(try await world.rows("SELECT original_transaction_id FROM subscription_statuses") == ["(600)"])
        #expect(try await world.answer(Self.states) == ["600 billing_retry status 1 t"])
        #expect(try await world.answer(Self.counts) == ["billing_retry 1 1 0"])
    }
}
