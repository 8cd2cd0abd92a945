import AppStoreModel

/// A record of an answer before it is signed.
struct AnswerRecord: Sendable {
    /// Makes the JSON that is signed.
    ///
    /// - `bundleId`: The app's own, except under the fault `wrongBundle`.
    /// - `sign`: Signs a payload that is embedded in this one.
    typealias Payload = @Sendable (_ bundleId: String, _ sign: ([UInt8]) throws -> String) throws -> [UInt8]

    /// `transaction`, `refund`, `notification`, `renewal` or `appTransaction`: what `GET /simulator/world` and
    /// `/simulator/pages` call it.
    let kind: String
    /// Identifies the record among all records of its kind, in every answer.
    let key: String
    /// Milliseconds since 1970.
    let signedDate: Int64
    /// The latest date in the payload, without the signing date.
    ///
    /// Milliseconds since 1970.
    ///
    /// For a transaction that is its purchase, its revocation or the last change by the app's server, for a notification its own
    /// date, for renewal info the moment since when the subscription has been in that state. A newer state of a record has a
    /// later one, whenever either was signed.
    let changedDate: Int64
    /// Whether the payload says which app it belongs to.
    var hasBundleId = true
    let payload: Payload

    /// Whether a fault with `oneIn` applies to the record: one record in `count`, the same ones in every answer.
    func isSelected(oneIn count: Int) -> Bool {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325  // FNV-1a
        for byte in key.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return (hash >> 32).isMultiple(of: UInt64(count))
    }
}

extension AnswerRecord {
    /// A transaction as it is at the moment `now`, which is also its signing date.
    ///
    /// - `kind`: `transaction`, or `refund` for the refund history.
    static func transaction(
        _ record: StoredTransaction,
        kind: String = "transaction",
        in app: SimulatedApp,
        now: UnixMilliseconds
    ) -> AnswerRecord {
        let transaction = record.transaction
        let signedDate = record.signedDate(at: now.rawValue)
        return AnswerRecord(
            kind: kind,
            key: String(transaction.id),
            signedDate: signedDate,
            changedDate: max(
                transaction.purchaseDate,
                transaction.revocation?.date ?? .min,
                transaction.actionDate ?? .min
            )
        ) { bundleId, _ in
            transaction.payload(of: record.customer, in: app, signedDate: signedDate, bundleId: bundleId)
        }
    }

    /// The renewal info of a subscription, signed in the answer.
    static func renewal(_ subscription: SubscriptionStatus, in app: SimulatedApp) -> AnswerRecord {
        AnswerRecord(
            kind: "renewal",
            key: String(subscription.originalId),
            signedDate: subscription.signedDate,
            changedDate: subscription.since,
            hasBundleId: false
        ) { _, _ in
            subscription.renewal.payload(
                of: subscription.transaction.customer,
                in: app,
                signedDate: subscription.signedDate
            )
        }
    }

    /// An app transaction, signed at the moment `now`.
    static func appTransaction(
        _ appTransaction: SimulatedAppTransaction,
        in app: SimulatedApp,
        now: UnixMilliseconds
    ) -> AnswerRecord {
        let signedDate = max(now.rawValue, appTransaction.originalPurchaseDate)
        return AnswerRecord(
            kind: "appTransaction",
            key: appTransaction.customer.appTransactionId,
            signedDate: signedDate,
            changedDate: appTransaction.originalPurchaseDate
        ) { bundleId, _ in
            appTransaction.payload(in: app, signedDate: signedDate, bundleId: bundleId)
        }
    }

    /// A notification with the content and the signing dates it was sent with.
    static func notification(_ notification: Notification, in app: SimulatedApp) -> AnswerRecord {
        AnswerRecord(
            kind: "notification",
            key: notification.uuid,
            signedDate: notification.date,
            changedDate: notification.date
        ) { bundleId, sign in
            try notification.payload(in: app, bundleId: bundleId, sign: sign)
        }
    }
}
