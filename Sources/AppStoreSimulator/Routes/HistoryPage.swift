import AppStoreModel
import NIOCore

/// A record as a page carries it.
enum PageItem: Sendable {
    case transaction(SignedTransaction)
    case notification(SignedNotification)

    /// The JSON that is or could be signed.
    func payload(in app: SimulatedApp, bundleId: String, sign: ([UInt8]) throws -> String) rethrows -> [UInt8] {
        switch self {
        case .transaction(let record):
            record.transaction.payload(
                of: record.customer,
                in: app,
                signedDate: record.signedDate,
                bundleId: bundleId
            )
        case .notification(let record):
            try record.notification.payload(in: app, bundleId: bundleId, sign: sign)
        }
    }

    /// Payload and signature, behind the header that all records share.
    func sealed(by sealer: Sealer, in app: SimulatedApp) -> [UInt8] {
        switch self {
        case .transaction(let record): record.sealed
        case .notification(let record): record.sealed(by: sealer, in: app)
        }
    }

    /// What names the record for ever.
    var key: String {
        switch self {
        case .transaction(let record): String(record.transaction.id)
        case .notification(let record): record.notification.uuid
        }
    }

    /// Milliseconds since 1970.
    var signedDate: Int64 {
        switch self {
        case .transaction(let record): record.signedDate
        case .notification(let record): record.notification.date
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

    /// Writes the JSON of the page.
    ///
    /// - `cursor`: The text of the next page's cursor.
    /// - `sealer`: Has signed the records.
    /// - `replacements`: By place on the page, the whole JWS of each record that a fault has signed anew.
    func body(
        cursor: String,
        in app: SimulatedApp,
        by sealer: Sealer,
        replacements: [Int: [UInt8]]
    ) -> ByteBuffer {
        var buffer = ByteBuffer()
        // A transaction has about 2 KiB besides its header.
        buffer.reserveCapacity(items.count * (sealer.opening.count + 2_048) + 512)
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
                buffer.writeBytes(sealer.opening)
                buffer.writeBytes(item.sealed(by: sealer, in: app))
            }
            buffer.writeString("\"")
            if case .notification(let record) = item {
                buffer.writeString(",\"sendAttempts\":")
                buffer.writeBytes(record.attempts)
                buffer.writeString("}")
            }
        }
        buffer.writeString("]}")
        return buffer
    }

    static let revision = "revision"
    static let token = "paginationToken"
}
