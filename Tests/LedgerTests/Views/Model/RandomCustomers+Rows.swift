import Postgres

/// The rows that a crawl would have brought of these customers.
extension RandomCustomers {
    func load(into world: TestLedger) async throws {
        let transactions =
            subscriptions.flatMap { subscription in
                subscription.stretches.indices.flatMap { records($0, of: subscription) }
            } + sales.flatMap(records)
        let renewals = subscriptions.compactMap(renewal)
        let notifications = subscriptions.flatMap(self.notifications)
        try await insert(
            transactions,
            into: """
                transactions (app_id, transaction_id, original_transaction_id, product_id, type, storefront, currency, quantity,
                    in_app_ownership_type, transaction_reason, purchase_date, original_purchase_date, expires_date, price_milliunits,
                    offer_type, offer_discount_type, offer_identifier, is_upgraded, revocation_date, signed_date, app_transaction_id,
                    web_order_line_item_id, payload_sha256, payload)
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

    /// The records of one stretch.
    ///
    /// One purchase in ten is under two transaction IDs, and notifications name the one that does not count.
    private func records(_ number: Int, of subscription: Subscription) -> [String] {
        let stretch = subscription.stretches[number]
        let last = stretch.revoked ?? stretch.starts
        let row = record(
            number,
            of: subscription,
            id: key(number, of: subscription),
            revoked: stretch.revoked,
            signed: last
        )
        guard isRepeated(number, of: subscription) else { return [row] }
        // The earlier record knows of no refund, or of one that the later record takes back.
        return [
            row,
            record(
                number,
                of: subscription,
                id: repeatedKey(number, of: subscription),
                revoked: nil,
                signed: stretch.starts - 60
            ),
        ]
    }

    private func isRepeated(_ number: Int, of subscription: Subscription) -> Bool {
        number > 0 && (subscription.id * 7 + number) % 10 == 0
    }

    private func repeatedKey(_ number: Int, of subscription: Subscription) -> String {
        "'\(subscription.id * 1_000 + 500 + number)'"
    }

    private func record(
        _ number: Int,
        of subscription: Subscription,
        id: String,
        revoked: Int?,
        signed: Int
    ) -> String {
        let stretch = subscription.stretches[number]
        let code = stretch.offerType == 3 ? "'autumn'" : "NULL"
        let offer =
            switch stretch.kind {
            case .trial: "\(stretch.offerType), 'FREE_TRIAL', \(code)"
            case .introductory: "\(stretch.offerType), 'PAY_AS_YOU_GO', \(code)"
            case .paid, .shared: "NULL::integer, NULL, NULL"
            }
        // One subscription in seven changes its appTransactionId at the third stretch.
        let customer = number >= 2 && subscription.id % 7 == 0 ? "other\(subscription.id)" : subscription.customer
        return """
            (1, \(id), \(key(0, of: subscription)), '\(stretch.product.name)', 'Auto-Renewable Subscription', '\(stretch.storefront)',
             '\(stretch.currency)', 1, '\(stretch.kind == .shared ? "FAMILY_SHARED" : "PURCHASED")', '\(stretch.isRenewal ? "RENEWAL" : "PURCHASE")',
             \(moment(stretch.starts)), \(moment(subscription.stretches[0].starts)), \(moment(stretch.expires)),
             \(stretch.price.map(String.init) ?? "NULL::bigint"), \(offer), \(stretch.isUpgraded ? "true" : "NULL::boolean"),
             \(moment(revoked)), \(moment(signed)), '\(customer)', 'w\(subscription.id)-\(number)', '', '{}')
            """
    }

    private func records(of sale: Sale) -> [String] {
        let original = "'s\(sale.id)'"
        func row(_ id: String, at: Int, revoked: Int?) -> String {
            """
            (1, \(id), \(original), '\(sale.product)', '\(sale.product == "forever" ? "Non-Consumable" : "Consumable")', '\(sale.storefront)',
             '\(sale.currency)', \(sale.quantity), 'PURCHASED', 'PURCHASE', \(moment(at)), \(moment(sale.at)), NULL::timestamptz, \(sale.price),
             NULL::integer, NULL, NULL, NULL::boolean, \(moment(revoked)), \(moment(revoked ?? at)), '\(sale.customer)', NULL, '', '{}')
            """
        }
        return [row(original, at: sale.at, revoked: sale.revoked)]
            + (sale.restored.map { [row("'r\(sale.id)'", at: $0, revoked: nil)] } ?? [])
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
            // What a notification says of either ID applies to the purchase.
            let named =
                isRepeated(number, of: subscription)
                ? repeatedKey(number, of: subscription) : key(number, of: subscription)
            let names = "\(named), \(key(0, of: subscription))"
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
            for (position, change) in subscription.switches.enumerated() where change.stretch == number {
                rows.append(
                    "(1, 'c\(subscription.id)-\(position)', 'DID_CHANGE_RENEWAL_STATUS', '\(change.isOn ? "AUTO_RENEW_ENABLED" : "AUTO_RENEW_DISABLED")', \(moment(change.at)), \(names), '', '{}')"
                )
            }
            for (position, event) in subscription.refunds.enumerated() where event.stretch == number {
                let own = "\(key(number, of: subscription)), \(key(0, of: subscription))"
                rows.append(
                    "(1, 'f\(subscription.id)-\(position)', '\(event.kind.rawValue)', NULL, \(moment(event.at)), \(own), '', '{}')"
                )
            }
            return rows
        }
    }
}
