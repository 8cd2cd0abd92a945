import Ledger
import Postgres

/// The rows that a crawl would have brought of these customers.
extension RandomCustomers {
    func load(into world: TestLedger) async throws {
        let transactions = subscriptions.flatMap { subscription in
            subscription.stretches.indices.map { transaction($0, of: subscription) }
        }
        let renewals = subscriptions.compactMap(renewal)
        let notifications = subscriptions.flatMap(self.notifications)
        try await insert(
            transactions,
            into: """
                transactions (app_id, transaction_id, original_transaction_id, product_id, type, storefront, currency, quantity,
                    in_app_ownership_type, transaction_reason, purchase_date, original_purchase_date, expires_date, price_milliunits,
                    offer_type, offer_discount_type, is_upgraded, revocation_date, signed_date, payload_sha256, payload)
                """,
            of: world
        )
        try await insert(
            renewals,
            into: """
                renewals (app_id, original_transaction_id, signed_date, auto_renew_status, is_in_billing_retry_period,
                    grace_period_expires_date, payload_sha256, payload)
                """,
            of: world
        )
        try await insert(
            notifications,
            into: """
                notifications (app_id, notification_uuid, notification_type, subtype, signed_date, transaction_id,
                    original_transaction_id, payload_sha256, payload)
                """,
            of: world
        )
    }

    private func insert(_ rows: [String], into table: String, of world: TestLedger) async throws {
        for start in stride(from: 0, to: rows.count, by: 2_000) {
            let some = rows[start..<min(start + 2_000, rows.count)].joined(separator: ",\n")
            try await world.run("INSERT INTO \(table) VALUES \(some)")
        }
    }

    private func key(_ number: Int, of subscription: Subscription) -> String { "'\(subscription.id * 1_000 + number)'" }

    private func moment(_ seconds: Int?) -> String { seconds.map { "to_timestamp(\($0))" } ?? "NULL::timestamptz" }

    private func transaction(_ number: Int, of subscription: Subscription) -> String {
        let stretch = subscription.stretches[number]
        let offer =
            switch stretch.kind {
            case .trial: "1, 'FREE_TRIAL'"
            case .introductory: "1, 'PAY_AS_YOU_GO'"
            case .paid, .shared: "NULL::integer, NULL"
            }
        return """
            (1, \(key(number, of: subscription)), \(key(0, of: subscription)), '\(stretch.product.name)', 'Auto-Renewable Subscription', '\(stretch.storefront)',
             '\(stretch.currency)', 1, '\(stretch.kind == .shared ? "FAMILY_SHARED" : "PURCHASED")', '\(stretch.isRenewal ? "RENEWAL" : "PURCHASE")',
             \(moment(stretch.starts)), \(moment(subscription.stretches[0].starts)), \(moment(stretch.expires)),
             \(stretch.price.map(String.init) ?? "NULL::bigint"), \(offer), \(stretch.isUpgraded ? "true" : "NULL::boolean"),
             \(moment(stretch.revoked)), \(moment(stretch.revoked ?? stretch.starts)), '', '{}')
            """
    }

    private func renewal(of subscription: Subscription) -> String? {
        guard let renewal = subscription.renewal else { return nil }
        return """
            (1, \(key(0, of: subscription)), \(moment(renewal.signed)), \(renewal.isOn ? 1 : 0), \(renewal.isRetried),
             \(moment(renewal.graceUntil)), '', '{}')
            """
    }

    /// Failed payments with a grace period, and two in three extensions: Apple keeps notifications for 180 days, so some are unknown.
    private func notifications(of subscription: Subscription) -> [String] {
        subscription.stretches.indices.flatMap { number in
            let stretch = subscription.stretches[number]
            let names = "\(key(number, of: subscription)), \(key(0, of: subscription))"
            var rows: [String] = []
            if let grace = stretch.graceUntil, let expires = stretch.expires {
                rows.append(
                    """
                    (1, 'g\(subscription.id)-\(number)', 'DID_FAIL_TO_RENEW', 'GRACE_PERIOD', \(moment(expires)), \(names), '',
                     '{"data": {"signedRenewalInfo": {"gracePeriodExpiresDate": \(grace * 1_000)}}}')
                    """
                )
            }
            if stretch.isExtended, (subscription.id + number) % 3 > 0 {
                rows.append(
                    "(1, 'e\(subscription.id)-\(number)', 'RENEWAL_EXTENDED', NULL, \(moment(stretch.starts + 3_600)), \(names), '', '{}')"
                )
            }
            return rows
        }
    }
}
