import SignedData

/// A transaction as history serves it: signed once, then only copied.
final class SignedTransaction: Sendable {
    let transaction: Transaction
    let customer: CustomerIdentity
    /// Milliseconds since 1970.
    let signedDate: Int64
    let sealed: [UInt8]

    init(
        _ transaction: Transaction,
        of customer: CustomerIdentity,
        signedDate: Int64,
        by sealer: Sealer,
        in app: SimulatedApp
    ) throws {
        self.transaction = transaction
        self.customer = customer
        self.signedDate = signedDate
        sealed = try sealer.seal(
            transaction.payload(of: customer, in: app, signedDate: signedDate, bundleId: app.bundleId)
        )
    }

    var position: CursorPosition {
        CursorPosition(date: transaction.modifiedDate, number: transaction.id)
    }
}

/// A notification as its history serves it.
final class SignedNotification: Sendable {
    let notification: Notification
    let sealed: [UInt8]
    /// The JSON of `sendAttempts`.
    let attempts: [UInt8]

    init(_ notification: Notification, by sealer: Sealer, in app: SimulatedApp) throws {
        self.notification = notification
        sealed = try sealer.seal(notification.payload(in: app, bundleId: app.bundleId, sign: sealer.jws))
        let items = notification.attempts.map { attempt in
            jsonObject {
                $0.member("attemptDate", attempt.date)
                $0.member("sendAttemptResult", attempt.result)
            }
        }
        attempts = [UInt8(ascii: "[")] + items.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
    }

    /// The signed JSON, read back from what is served: the signatures inside it are fresh in every run.
    var payload: [UInt8] {
        let segment = Array(sealed.prefix { $0 != UInt8(ascii: ".") })
        return Base64.decodeURL(segment.span) ?? []
    }
}
