import SignedData

/// A transaction as history serves it: signed once, then only copied.
final class SignedTransaction: Sendable {
    let transaction: Transaction
    let customer: CustomerIdentity
    /// Milliseconds since 1970.
    let signedDate: Int64
    /// Payload and signature, behind the header that all records share.
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
///
/// Only its signatures are kept. Everything else of the text, up to three headers of a certificate chain each, is written
/// again when somebody asks: most notifications of a world are never asked for.
final class SignedNotification: Sendable {
    let notification: Notification
    /// As they stand in the JWS, one behind the other: of what is signed inside, then of the whole.
    private let signatures: [UInt8]

    init(_ notification: Notification, by sealer: Sealer, in app: SimulatedApp) throws {
        self.notification = notification
        var signatures: [UInt8] = []
        let payload = try notification.payload(in: app, bundleId: app.bundleId) { inner in
            let jws = try sealer.jws(inner)
            signatures += jws.utf8.suffix(Sealer.signatureLength)
            return jws
        }
        signatures += try sealer.seal(payload).suffix(Sealer.signatureLength)
        self.signatures = signatures
    }

    /// The signed JSON; the same bytes each time, so that its signature holds.
    func payload(by sealer: Sealer, in app: SimulatedApp) -> [UInt8] {
        var place = 0
        return notification.payload(in: app, bundleId: app.bundleId) { inner in
            let text = sealer.opening + sealer.seal(inner, with: signature(place))
            place += 1
            return String(decoding: text, as: UTF8.self)
        }
    }

    /// Payload and signature, behind the header that all records share.
    func sealed(by sealer: Sealer, in app: SimulatedApp) -> [UInt8] {
        sealer.seal(payload(by: sealer, in: app), with: signatures.suffix(Sealer.signatureLength))
    }

    /// The JSON of `sendAttempts`.
    var attempts: [UInt8] {
        let items = notification.attempts.map { attempt in
            jsonObject {
                $0.member("attemptDate", attempt.date)
                $0.member("sendAttemptResult", attempt.result)
            }
        }
        return [UInt8(ascii: "[")] + items.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
    }

    private func signature(_ place: Int) -> ArraySlice<UInt8> {
        signatures[place * Sealer.signatureLength..<(place + 1) * Sealer.signatureLength]
    }
}
