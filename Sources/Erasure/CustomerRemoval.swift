import Basics
import Ledger
import LedgerSchema
import Postgres
import StrictJSON

/// Removes one customer from one app's tables, inside the caller's transaction, in the order of ``LedgerSchema/CustomerRows``.
///
/// Every row is found by an index; no statement reads a table that grows with the ledger.
struct CustomerRemoval {
    private let trace: CustomerTrace
    private let app: AppID
    /// UUIDs of the customer's notifications, known before they are removed.
    private var notifications: [String] = []
    /// Rows by table.
    private(set) var removed: [String: Int] = [:]
    /// Tables in which a value was removed from a row.
    private(set) var changed: Set<String> = []

    /// - Parameters:
    ///   - trace: A complete trace over all apps, made under the erasure lock.
    ///   - app: One of the traced apps.
    init(trace: CustomerTrace, app: AppID) {
        self.trace = trace
        self.app = app
    }

    /// Removes the customer's records with everything stored for them, the customer's items, and texts with their IDs.
    ///
    /// - Throws: ``Postgres/PostgresError``; the transaction has then failed.
    mutating func remove(on connection: borrowing PostgresConnection) throws {
        notifications =
            trace.keys(in: Tables.notifications, of: app) + (try notificationsQuotingCustomers(on: connection))
        for (table, rows) in CustomerRows.records { try remove(rows, of: table, on: connection) }
        crashPoint(.erasedRowsRemoved)
        for (table, rows) in CustomerRows.others { try remove(rows, of: table, on: connection) }
    }

    private mutating func remove(
        _ rows: CustomerRows,
        of table: String,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        switch rows {
        case .keyed(let columns):
            for column in columns { try removeRows(of: table, by: column, on: connection) }
        case .items: try removeItems(of: table, on: connection)
        case .everyRow:
            _ = try connection.run("DELETE FROM \(table) WHERE app_id = $1", [.integer(app.rawValue)])
        case .quotedIDs: try removeQuotedIDs(on: connection)
        case .rejectedRecords: try removeRejects(on: connection)
        case .receivedNotifications: try removeReceived(on: connection)
        case .actionRows: try clearActionRows(on: connection)
        case .inputCells: try clearInputCells(on: connection)
        case .schemaDrift: try removeSamples(on: connection)
        case .runMessages: try removeMessages(on: connection)
        case .deleted, .kept: break
        }
    }

    private func keys(_ keys: CustomerKeys) -> [String] {
        switch keys {
        case .transactions: trace.transactions.map(\.text).sorted()
        case .transactionsAndRefunds: self.keys(.transactions) + trace.keys(in: Tables.refunds, of: app)
        case .appTransactions: trace.appTransactions.map(\.text).sorted()
        case .orders: trace.orders.map(\.text).sorted()
        case .notifications: notifications
        }
    }

    private mutating func removeRows(
        of table: String,
        by column: CustomerRows.KeyColumn,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        let keys = keys(column.keys)
        guard !keys.isEmpty else { return }
        let condition = column.kind.map { "x.\($0.column) = $3" } ?? "true"
        try delete(
            KeyedRows.delete(from: table, by: column.name, condition),
            [.textArray(keys)] + (column.kind.map { [.text($0.value)] } ?? []),
            of: table,
            on: connection
        )
    }

    private func removeQuotedIDs(on connection: borrowing PostgresConnection) throws(PostgresError) {
        try QuotedIDs.remove(.notification, notifications, app: app, on: connection)
        try QuotedIDs.remove(.appTransaction, keys(.appTransactions), app: app, on: connection)
        try QuotedIDs.remove(.order, keys(.orders), app: app, on: connection)
        try QuotedIDs.remove(.transaction, keys(.transactionsAndRefunds), app: app, on: connection)
        try QuotedIDs.remove(.renewalInfo, keys(.transactions), app: app, on: connection)
    }

    /// Removes the customer from rows of actions, which stay, and the attempts of these rows.
    private mutating func clearActionRows(on connection: borrowing PostgresConnection) throws(PostgresError) {
        let cleared = try connection.run(
            .clearActionRows,
            [
                "app": .integer(app.rawValue), "customers": .textArray(keys(.transactions)),
                "app_transactions": .textArray(keys(.appTransactions)), "ids": .textArray(trace.texts.sorted()),
            ]
        )
        for row in cleared {
            removed["action_attempts", default: 0] += try connection.run(
                "DELETE FROM action_attempts WHERE app_id = $1 AND batch_id = $2::text::uuid AND position = $3",
                [.integer(app.rawValue), .text(try row.text("batch_id")), .bigint(try row.int64("position"))]
            ).affected
        }
        removed["action_rows", default: 0] += cleared.count
    }

    private func clearInputCells(on connection: borrowing PostgresConnection) throws(PostgresError) {
        _ = try connection.run(
            .clearInputCells,
            ["app": .integer(app.rawValue), "ids": .textArray(trace.texts.sorted())]
        )
    }

    /// Removes what receivers have stored of the customer.
    ///
    /// The rows of its first eight days stay; see `keep_first_received.sql`.
    ///
    /// The texts of refused notifications are not verified and can contain any ID. They are few and kept for a short time, so
    /// an erasure removes all of them. A notification that is not normalised and names the customer only by another ID is
    /// withheld by the tombstones when it is.
    private mutating func removeReceived(on connection: borrowing PostgresConnection) throws(PostgresError) {
        let table = "received_notifications"
        removed[table, default: 0] += try connection.run(
            .keepFirstReceived,
            [
                "app": .integer(app.rawValue),
                "customers": .textArray(keys(.transactions)),
                "notifications": .textArray(notifications),
            ]
        ).affected
        for (column, keys) in [
            ("original_transaction_id", keys(.transactions)), ("notification_uuid", notifications),
        ] {
            try delete(KeyedRows.delete(from: table, by: column), [.textArray(keys)], of: table, on: connection)
        }
        try delete(
            "DELETE FROM received_notifications WHERE app_id = $1 AND refused_because IS NOT NULL",
            [],
            of: table,
            on: connection
        )
    }

    /// Removes rejected records of the customer's items, and those whose text contains one of the IDs.
    private mutating func removeRejects(on connection: borrowing PostgresConnection) throws(PostgresError) {
        let quoting = try QuotedIDs.keys(of: .rejected, quoting: trace.ids, app: app, on: connection)
        var gone: [String] = []
        for (column, type, keys) in [
            ("item_key", "text", keys(.transactions) + keys(.orders)),
            ("record_id", "bigint", quoting),
        ] {
            let rows = try connection.run(
                """
                \(KeyedRows.delete(from: "rejected_records", by: column, type: type, isAppFirst: type == "bigint"))
                RETURNING x.record_id::text AS key
                """,
                [.integer(app.rawValue), .textArray(keys)]
            )
            for row in rows { gone.append(try row.text("key")) }
        }
        removed["rejected_records", default: 0] += gone.count
        try QuotedIDs.remove(.rejected, gone, app: app, on: connection)
    }

    /// Notifications with an invalid record, and so without a transaction ID, whose text contains one of the IDs.
    private func notificationsQuotingCustomers(
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> [String] {
        let quoting = try QuotedIDs.keys(of: .notification, quoting: trace.ids, app: app, on: connection)
        guard !quoting.isEmpty else { return [] }
        let unnamed = try connection.run(
            """
            \(KeyedRows.select("x.notification_uuid, x.transaction_id", from: "notifications", by: "notification_uuid"))
             WHERE r.transaction_id IS NULL
            """,
            [.integer(app.rawValue), .textArray(quoting)]
        )
        var keys: [String] = []
        for row in unnamed { keys.append(try row.text("notification_uuid")) }
        return keys
    }

    /// Removes items or coverage gaps of the customer's IDs, of any job and stream.
    ///
    /// The primary key begins with app, job, stream and item key. There are few pairs of job and stream, and one index lookup finds the
    /// next pair, so other rows are not read. A worker that has leased one of the items loses its lease.
    private mutating func removeItems(
        of table: String,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        try delete(
            """
            DELETE FROM \(table) x USING (SELECT * FROM (
                WITH RECURSIVE pairs AS (
                    (SELECT i.job, i.stream FROM \(table) i WHERE i.app_id = $1::integer ORDER BY i.job, i.stream LIMIT 1)
                    UNION ALL
                    SELECT n.job, n.stream FROM pairs p, LATERAL (
                        SELECT i.job, i.stream FROM \(table) i WHERE i.app_id = $1 AND (i.job, i.stream) > (p.job, p.stream)
                         ORDER BY i.job, i.stream LIMIT 1) n
                )
                SELECT i.app_id, i.job, i.stream, i.item_key
                  FROM pairs p, unnest($2::text[]) AS w (id), LATERAL (
                       SELECT i.app_id, i.job, i.stream, i.item_key FROM \(table) i
                        WHERE i.app_id = $1 AND i.job = p.job AND i.stream = p.stream AND i.item_key = w.id OFFSET 0) i) f OFFSET 0) o
             WHERE x.app_id = o.app_id AND x.job = o.job AND x.stream = o.stream AND x.item_key = o.item_key
            """,
            [.textArray(keys(.transactions) + keys(.orders))],
            of: table,
            on: connection
        )
    }

    /// Removes samples that can contain an ID, and rows whose path contains one.
    ///
    /// The record from which a sample came is not stored. So if the ledger had records of the customer, all samples of
    /// the app are removed. The next record with the field provides a new sample.
    private mutating func removeSamples(on connection: borrowing PostgresConnection) throws(PostgresError) {
        let app = Cell.integer(app.rawValue)
        let ids = Set(trace.ids.map { ExactText($0.text) })
        let hadRecords = removed.contains { $0.value > 0 }
        var paths: [String] = []
        var samples: [String] = []
        for row in try connection.run("SELECT DISTINCT path, sample FROM schema_drift WHERE app_id = $1", [app]) {
            let path = try row.text("path")
            if IDScanner.containsAny(of: ids, in: path) { paths.append(path) }
            guard let sample = try row.textOrNil("sample") else { continue }
            if hadRecords || IDScanner.containsAny(of: ids, in: sample) { samples.append(sample) }
        }
        try delete(
            "DELETE FROM schema_drift WHERE app_id = $1 AND path = ANY ($2::text[])",
            [.textArray(paths)],
            of: "schema_drift",
            on: connection
        )
        let cleared = try connection.run(
            "UPDATE schema_drift SET sample = NULL WHERE app_id = $1 AND sample = ANY ($2::text[])",
            [app, .textArray(samples)]
        )
        if cleared.affected > 0 { changed.insert("schema_drift") }
    }

    /// Removes messages of runs that contain an ID.
    private mutating func removeMessages(on connection: borrowing PostgresConnection) throws(PostgresError) {
        let app = Cell.integer(app.rawValue)
        let ids = Set(trace.ids.map { ExactText($0.text) })
        var runs: [String] = []
        for row in try connection.run(
            "SELECT run_id::text AS run, message FROM runs WHERE app_id = $1 AND message IS NOT NULL",
            [app]
        ) where IDScanner.containsAny(of: ids, in: try row.text("message")) { runs.append(try row.text("run")) }
        _ = try connection.run(
            "UPDATE runs SET message = NULL WHERE app_id = $1 AND run_id = ANY ($2::text[]::bigint[])",
            [app, .textArray(runs)]
        )
        if !runs.isEmpty { changed.insert("runs") }
    }

    /// Runs a statement whose first parameter is the app, and counts the removed rows.
    private mutating func delete(
        _ statement: String,
        _ parameters: [Cell],
        of table: String,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        removed[table, default: 0] += try connection.run(statement, [.integer(app.rawValue)] + parameters).affected
    }
}
