import AppStoreModel
import Ledger
package import LedgerSchema
import Postgres

/// The notifications of one app that receivers have stored.
///
/// Every call is short. While PostgreSQL is not available, it fails soon, so that the notification can be answered.
package struct NotificationInbox: Sendable {
    /// How the inbox has stored a notification.
    package enum Receipt: Sendable, Equatable {
        case new
        /// It was received before, or has replaced an older one with the same UUID.
        case known
        /// The stored notification with the same UUID is not older, so it stays; the caller can keep this one as refused.
        case conflict
    }

    /// How many refused notifications an app keeps.
    static let mostRefused: Int64 = 1_000
    /// The most bytes of the refused notifications that an app keeps.
    static let mostRefusedBytes: Int64 = 16 * 1_024 * 1_024
    /// How long they are kept after they were last received.
    ///
    /// Apple repeats a notification for 157 hours.
    static let refusedTerm = "30 days"

    private let app: AppID
    /// Sessions that commit notifications.
    private let storing: PostgresPool
    /// A session for everything else.
    private let checking: PostgresPool
    /// The URLs to which new notifications are forwarded, as in ``ForwardQueue``.
    private let destinations: [String]

    init(app: AppID, storing: PostgresPool, checking: PostgresPool, destinations: [String]) {
        self.app = app
        self.storing = storing
        self.checking = checking
        self.destinations = destinations
    }

    /// The inbox of another app in the same ledger, which shares the sessions of this one.
    package func sharingSessions(with app: AppID, forwardingTo destinations: [String] = []) -> NotificationInbox {
        NotificationInbox(app: app, storing: storing, checking: checking, destinations: destinations)
    }

    /// Stores verified notifications, and returns when they are durable.
    ///
    /// - Parameter batch: Each key once.
    /// - Returns: The outcome of each, in the order of the batch.
    /// - Throws: ``Postgres/PostgresError``. The notifications may be stored nevertheless.
    package func store(_ batch: [ReceivedNotification]) async throws -> [Receipt] {
        let rows = batch.map(Self.row)
        return try await storing.withConnection { connection in
            try connection.makeRowType(Self.rowType, of: Self.columns)
            return try connection.transaction { connection in
                let stored = try connection.run(
                    SQLStatement.storeReceived.text,
                    [.integer(app.rawValue)],
                    rows: RowArray(of: Self.rowType, rows),
                    answer: .binary
                )
                var found: [String: (receipts: Int64, sha256: [UInt8])] = [:]
                for row in stored {
                    found[try row.text("notification_uuid")] = (try row.int64("receipts"), try row.bytes("body_sha256"))
                }
                var changed: [ReceivedNotification] = []
                let receipts = try batch.map { notification -> Receipt in
                    guard let row = found[notification.key] else {
                        throw LedgerError.invariant("a notification was not stored")
                    }
                    if row.receipts > 1 {
                        if row.sha256 == notification.bodySHA256 { return .known }
                        guard try replace(by: notification, on: connection) else { return .conflict }
                    }
                    changed.append(notification)
                    return row.receipts == 1 ? .new : .known
                }
                try ForwardQueue.add(changed, to: destinations, app: app, on: connection)
                return receipts
            }
        }
    }

    /// Replaces the stored notification with the same UUID if it is older; returns whether it was.
    private func replace(
        by notification: ReceivedNotification,
        on connection: borrowing PostgresConnection
    ) throws -> Bool {
        let replaced = try connection.run(
            .replaceReceived,
            [
                "notification_type": notification.type.map(Cell.text) ?? .null,
                "subtype": notification.subtype.map(Cell.text) ?? .null,
                "signed_date": notification.signedDate.map { .timestamp($0.rawValue) } ?? .null,
                "original_transaction_id": notification.originalTransactionId.map(Cell.text) ?? .null,
                "body": .text(notification.body),
                "body_hash": .bytea(notification.bodySHA256),
                "app": .integer(app.rawValue),
                "notification_uuid": .text(notification.key),
            ]
        )
        guard let row = replaced.first else { return false }
        if let key = try row.textOrNil("kept_key") {
            try removeErased(key, text: try row.textOrNil("kept_body") ?? "", on: connection)
        }
        return true
    }

    /// Removes a refused notification that this transaction has stored if its text names an erased customer.
    ///
    /// A refused notification is not normalised, which would withhold it, so it is checked when it is stored. An erasure that commits later finds
    /// the row, because erasures are blocked until the transaction ends.
    ///
    /// - Returns: Whether it was removed.
    /// - Throws: ``Postgres/PostgresError``.
    @discardableResult
    private func removeErased(
        _ key: String,
        text: String,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> Bool {
        guard let tombstones = try Tombstones.blockingErasures(of: app, on: connection),
            try !tombstones.erased(among: IDScanner.ids(in: Array(text.utf8)), on: connection).isEmpty
        else { return false }
        return try connection.run(
            "DELETE FROM received_notifications WHERE app_id = $1 AND notification_uuid = $2",
            [.integer(app.rawValue), .text(key)]
        ).affected == 1
    }

    /// Keeps or counts a refused notification, unless the app has enough of them or its text names an erased customer.
    ///
    /// Removes those that are older than ``refusedTerm``.
    ///
    /// - Returns: Whether it is kept.
    /// - Throws: ``Postgres/PostgresError``.
    package func quarantine(_ refused: RefusedNotification) async throws -> Bool {
        try await check { connection in
            _ = try connection.run(
                """
                DELETE FROM received_notifications
                 WHERE app_id = $1::integer AND refused_because IS NOT NULL AND last_received_at < now() - interval '\(Self.refusedTerm)'
                """,
                [.integer(app.rawValue)]
            )
            let claim = refused.claim
            let kept = try connection.run(
                .quarantineReceived,
                [
                    "app": .integer(app.rawValue),
                    "notification_uuid": .text(claim.key),
                    "version": .integer(claim.version),
                    "notification_type": claim.type.map(Cell.text) ?? .null,
                    "original_transaction_id": claim.originalTransactionId.map(Cell.text) ?? .null,
                    "refused_because": .text(refused.reason),
                    "body": .text(claim.body),
                    "body_hash": .bytea(claim.bodySHA256),
                    "most_rows": .bigint(Self.mostRefused),
                    "most_bytes": .bigint(Self.mostRefusedBytes),
                ]
            )
            guard let row = kept.first else { return false }
            // A text that is kept already was checked.
            return try row.int64("receipts") > 1 || !removeErased(claim.key, text: claim.body, on: connection)
        }
    }

    /// The age of the oldest notification that is not normalised, by the database's clock; `nil` if all are.
    ///
    /// - Throws: ``Postgres/PostgresError``, so it also tells whether the database answers.
    package func ageOfOldestPending() async throws -> Duration? {
        try await check { connection in
            let row = try connection.run(
                """
                SELECT (extract(epoch FROM clock_timestamp() - min(received_at)) * 1000)::bigint AS milliseconds
                  FROM received_notifications WHERE app_id = $1::integer AND normalised_at IS NULL AND refused_because IS NULL
                """,
                [.integer(app.rawValue)]
            )[0]
            return try row.int64OrNil("milliseconds").map { .milliseconds(max(0, $0)) }
        }
    }

    private func check<R: Sendable>(
        _ body: @Sendable (borrowing PostgresConnection) throws -> R
    ) async throws -> R {
        try await checking.withConnection { try $0.transaction { try body($0) } }
    }

    /// The parameter of `store_received.sql`.
    private static let rowType = "stage_received"
    private static let columns = [
        Column("notification_uuid", .text), Column("version", .integer), Column("notification_type", .text),
        Column("subtype", .text), Column("signed_date", .timestamptz), Column("original_transaction_id", .text),
        Column("receipts", .bigint), Column("body", .text), Column("body_sha256", .bytea),
    ]

    private static func row(_ notification: ReceivedNotification) -> Row {
        [
            .text(notification.key), .integer(notification.version), notification.type.map(Cell.text) ?? .null,
            notification.subtype.map(Cell.text) ?? .null,
            notification.signedDate.map { .timestamp($0.rawValue) } ?? .null,
            notification.originalTransactionId.map(Cell.text) ?? .null, .bigint(1), .text(notification.body),
            .bytea(notification.bodySHA256),
        ]
    }
}

extension Ledger {
    /// Opens the inbox of an app.
    ///
    /// - Parameters:
    ///   - sessions: The most sessions that commit notifications; there is one more for checks.
    ///   - patience: How long to try to connect, before a call fails.
    ///   - destinations: The URLs to which new notifications are forwarded, as in ``ForwardQueue``.
    /// - Returns: The inbox, with separate sessions.
    package func inbox(
        of app: AppID,
        sessions: Int,
        patience: Duration,
        forwardingTo destinations: [String] = []
    ) -> NotificationInbox {
        NotificationInbox(
            app: app,
            storing: separatePool(sessions: sessions, patience: patience),
            checking: separatePool(sessions: 1, patience: patience),
            destinations: destinations
        )
    }
}
