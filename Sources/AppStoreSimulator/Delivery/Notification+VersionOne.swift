import AppStoreModel

extension Notification {
    /// The body of a version 1 notification, which is not signed.
    ///
    /// Source: `responseBodyV1` and `unified_receipt.Latest_receipt_info`, read 2026-11. It has the members that name the purchase
    /// and those that a server must not store.
    ///
    /// - `type`: ``versionOneType``.
    func versionOneBody(_ type: String, in app: SimulatedApp, sharedSecret: String) -> [UInt8] {
        var purchase: Transaction?
        if case .transaction(let transaction, _, _) = content { purchase = transaction }
        let receipt = purchase.map { purchase in
            jsonObject {
                $0.member("original_transaction_id", String(purchase.originalId))
                $0.member("transaction_id", String(purchase.id))
                $0.member("product_id", purchase.product.id)
                $0.member("purchase_date_ms", String(purchase.purchaseDate))
                $0.member("expires_date_ms", purchase.expiresDate.map { String($0) })
                $0.member("quantity", "1")
            }
        }
        return jsonObject {
            $0.member("notification_type", type)
            $0.member("password", sharedSecret)
            $0.member("environment", app.environment == .sandbox ? "Sandbox" : "PROD")
            $0.member("bid", app.bundleId)
            $0.member("bvrs", app.bundleVersion)
            $0.member("original_transaction_id", purchase.map { String($0.originalId) })
            $0.member(
                "unified_receipt",
                raw: jsonObject {
                    $0.member("environment", app.environment.rawValue)
                    $0.member("latest_receipt_info", objects: receipt.map { [$0] } ?? [])
                    $0.member("status", Int64(0))
                }
            )
        }
    }
}

extension Notification {
    /// The type of version 1 for the same event; `nil` for an event that only version 2 has.
    ///
    /// Source: `notification_type`, read 2026-11.
    var versionOneType: String? {
        let product: Product.Kind? =
            if case .transaction(let transaction, _, _) = content { transaction.product.kind } else { nil }
        return switch (kind.type, kind.subtype) {
        case ("SUBSCRIBED", "INITIAL_BUY"): "INITIAL_BUY"
        // To the same product.
        case ("SUBSCRIBED", _): "DID_CHANGE_RENEWAL_STATUS"
        case ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"), ("OFFER_REDEEMED", "UPGRADE"): "INTERACTIVE_RENEWAL"
        case ("DID_CHANGE_RENEWAL_PREF", _), ("OFFER_REDEEMED", "DOWNGRADE"): "DID_CHANGE_RENEWAL_PREF"
        case ("DID_RENEW", "BILLING_RECOVERY"): "DID_RECOVER"
        case ("EXPIRED", "BILLING_RETRY"): "DID_CHANGE_RENEWAL_STATUS"
        case ("PRICE_INCREASE", "PENDING"): "PRICE_INCREASE_CONSENT"
        case ("REFUND", _) where product == .autoRenewable: "CANCEL"
        case ("CONSUMPTION_REQUEST", _) where product != .consumable: nil
        case ("DID_CHANGE_RENEWAL_STATUS", _), ("DID_RENEW", _), ("DID_FAIL_TO_RENEW", _), ("REFUND", _), ("REVOKE", _),
            ("CONSUMPTION_REQUEST", _):
            kind.type
        default: nil
        }
    }

    /// Whether Apple posts the notification in the format of version 2 whatever version the app's server has chosen.
    ///
    /// Source: "Request a Test Notification", read 2026-11.
    var isAlwaysVersionTwo: Bool { kind.type == "TEST" }
}
