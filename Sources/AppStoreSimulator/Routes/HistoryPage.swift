import AppStoreModel
import NIOCore
import SignedData

/// A record as a page carries it; the dates are in milliseconds since 1970.
enum PageItem: Sendable {
    /// `signedDate` is the moment of the answer.
    case transaction(StoredTransaction, signedDate: Int64)
    /// `now` is the moment of the answer: it has the attempts to deliver the notification that were made until then.
    case notification(Notification, now: Int64)

    /// The JSON that is signed; a notification says what it said when it was sent, under the dates of then.
    func payload(in app: SimulatedApp, bundleId: String, sign: ([UInt8]) throws -> String) rethrows -> [UInt8] {
        switch self {
        case .transaction(let record, let signedDate):
            record.transaction.payload(of: record.customer, in: app, signedDate: signedDate, bundleId: bundleId)
        case .notification(let notification, _):
            try notification.payload(in: app, bundleId: bundleId, sign: sign)
        }
    }

    /// What names the record for ever.
    var key: String {
        switch self {
        case .transaction(let record, _): String(record.transaction.id)
        case .notification(let notification, _): notification.uuid
        }
    }

    /// Milliseconds since 1970.
    var signedDate: Int64 {
        switch self {
        case .transaction(_, let signedDate): signedDate
        case .notification(let notification, _): notification.date
        }
    }

    /// The latest date of what the payload tells: the revocation, or else the purchase; of a notification its own.
    ///
    /// It tells an older state of a record from a newer one, whenever either was signed. Milliseconds since 1970.
    var changedDate: Int64 {
        switch self {
        case .transaction(let record, _):
            max(record.transaction.purchaseDate, record.transaction.revocation?.date ?? .min)
        case .notification(let notification, _): notification.date
        }
    }

    /// Whether the record is one of those that a fault picks, one in `count`; the same on every page.
    func isOne(in count: Int) -> Bool {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325  // FNV-1a
        for byte in key.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return (hash >> 32).isMultiple(of: UInt64(count))
    }
}

/// One page of any of the three histories, before it is JSON.
struct HistoryPage: Sendable {
    static let size = 20

    var items: [PageItem]
    /// Where the next page begins, and what its cursor is bound to.
    var position: CursorPosition
    let binding: CursorMint.Binding
    var hasMore: Bool
    /// When the cursor is made; 0 for cursors that never expire.
    var issued: Int64 = 0
    /// The cursor of the request, for the fault that makes no progress.
    let asked: String?
    let cursorName: String
    /// Whether the page names the app, as transaction history does.
    var namesApp = false

    /// Writes the JSON of the page and signs its records, one signature each and one for each record inside a notification.
    ///
    /// - `cursor`: The text of the next page's cursor.
    /// - `replacements`: By place on the page, the JWS of each record that a fault has signed.
    func body(
        cursor: String,
        in app: SimulatedApp,
        by issuer: JWSIssuer,
        replacements: [Int: [UInt8]]
    ) throws -> ByteBuffer {
        var buffer = ByteBuffer()
        // A transaction has about 2 KiB besides its header.
        buffer.reserveCapacity(items.count * (issuer.headerSegment.utf8.count + 2_048) + 512)
        buffer.writeString("{\"\(cursorName)\":\"\(cursor)\",\"hasMore\":\(hasMore),")
        if namesApp {
            buffer.writeString("\"bundleId\":\"\(app.bundleId)\",")
            if let id = app.appAppleId { buffer.writeString("\"appAppleId\":\(id),") }
            buffer.writeString("\"environment\":\"\(app.environment.rawValue)\",")
        }
        buffer.writeString(cursorName == Self.token ? "\"notificationHistory\":[" : "\"signedTransactions\":[")
        for (index, item) in items.enumerated() {
            if index > 0 { buffer.writeString(",") }
            if case .notification = item { buffer.writeString("{\"signedPayload\":") }
            buffer.writeString("\"")
            if let replacement = replacements[index] {
                buffer.writeBytes(replacement)
            } else {
                let payload = try item.payload(in: app, bundleId: app.bundleId, sign: issuer.sign(payload:))
                buffer.writeString(try issuer.sign(payload: payload))
            }
            buffer.writeString("\"")
            if case .notification(let notification, let now) = item {
                buffer.writeString(",\"sendAttempts\":")
                buffer.writeBytes(notification.attempts(until: now).json)
                buffer.writeString("}")
            }
        }
        buffer.writeString("]}")
        return buffer
    }

    static let revision = "revision"
    static let token = "paginationToken"
}
