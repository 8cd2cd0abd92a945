import AppStoreModel

extension Notification {
    /// The body of a version 1 notification, which is not signed.
    ///
    /// Source: `responseBodyV1` and `unified_receipt.Latest_receipt_info`, read 2026-11. It has the members that name the purchase
    /// and those that a server must not store.
    func versionOneBody(in app: SimulatedApp, sharedSecret: String) -> [UInt8] {
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
            $0.member("notification_type", kind.versionOneType)
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

extension NotificationKind {
    /// The type of version 1 for the same event; types that both versions have keep their name.
    fileprivate var versionOneType: String {
        switch (type, subtype) {
        case ("SUBSCRIBED", "INITIAL_BUY"): "INITIAL_BUY"
        case ("SUBSCRIBED", _), ("OFFER_REDEEMED", _): "INTERACTIVE_RENEWAL"
        case ("DID_RENEW", "BILLING_RECOVERY"): "DID_RECOVER"
        case ("EXPIRED", _): "DID_CHANGE_RENEWAL_STATUS"
        case ("PRICE_INCREASE", _): "PRICE_INCREASE_CONSENT"
        default: type
        }
    }
}
