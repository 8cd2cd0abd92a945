import Basics
import Ledger
import LedgerSchema
import Postgres
import StrictJSON

/// Removes one customer from one app's tables, inside the caller's transaction.
///
/// Every row is found by an index; no statement reads a table that grows with the ledger.
struct CustomerRemoval {
    private let trace: CustomerTrace
    private let app: AppID
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
        let tracedIDs = trace.transactions.map(\.text).sorted()
        let quoting = try notificationsQuotingCustomers(on: connection)
        let transactions = try remove(Tables.transactions, tracedIDs, on: connection)
        let refunds = try remove(Tables.refunds, trace.keys(in: Tables.refunds, of: app), on: connection)
        let renewals = try remove(Tables.renewals, trace.keys(in: Tables.renewals, of: app), on: connection)
        let notifications = try remove(
            Tables.notifications,
            trace.keys(in: Tables.notifications, of: app) + quoting,
            on: connection
        )
        let appTransactions = try remove(
            Tables.appTransactions,
            trace.appTransactions.map(\.text).sorted(),
            on: connection
        )
        let orders = trace.orders.map(\.text).sorted()
        for kind in AnswerKind.all { try removeAnswers(kind, on: connection) }
        crashPoint(.erasedRowsRemoved)
        try removeChildren(of: transactions + refunds, in: Tables.transactions, on: connection)
        try removeChildren(of: renewals, in: Tables.renewals, on: connection)
        try delete(
            KeyedRows.delete(from: "notification_send_attempts", by: "notification_uuid"),
            [.textArray(notifications)],
            of: "notification_send_attempts",
            on: connection
        )
        try QuotedIDs.remove(.notification, notifications, app: app, on: connection)
        try QuotedIDs.remove(.appTransaction, appTransactions, app: app, on: connection)
        try QuotedIDs.remove(.order, orders, app: app, on: connection)
        try QuotedIDs.remove(.transaction, transactions + refunds + tracedIDs, app: app, on: connection)
        try QuotedIDs.remove(.renewalInfo, renewals + tracedIDs, app: app, on: connection)
        try removeEvidence(of: .transaction, transactions + refunds + tracedIDs, on: connection)
        try removeEvidence(of: .renewalInfo, renewals + tracedIDs, on: connection)
        try removeEvidence(of: .notification, notifications, on: connection)
        try removeEvidence(of: .appTransaction, trace.appTransactions.map(\.text), on: connection)
        try removeRejects(on: connection)
        try removeChangeMarks(on: connection)
        try removeReceived(notifications: notifications, on: connection)
        try removeCrawlProgress(of: tracedIDs + orders, on: connection)
        // The place that the removal of old records has reached is a record's key. The next one begins at the beginning.
        _ = try connection.run("DELETE FROM retention_progress WHERE app_id = $1", [.integer(app.rawValue)])
        try clearActionRows(of: tracedIDs, on: connection)
        try removeSamples(on: connection)
        try removeMessages(on: connection)
    }

    /// Removes the customer from rows of actions, which stay.
    private mutating func clearActionRows(
        of keys: [String],
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        let cleared = try connection.run(
            .clearActionRows,
            ["app": .integer(app.rawValue), "customers": .textArray(keys)]
        )
        for row in cleared {
            removed["action_attempts", default: 0] += try connection.run(
                "DELETE FROM action_attempts WHERE app_id = $1 AND batch_id = $2::text::uuid AND position = $3",
                [.integer(app.rawValue), .text(try row.text("batch_id")), .bigint(try row.int64("position"))]
            ).affected
        }
        removed["action_rows", default: 0] += cleared.count
    }

    /// Removes rows of a table of records.
    ///
    /// - Returns: The keys of the removed rows.
    private mutating func remove(
        _ table: Table,
        _ keys: [String],
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> [String] {
        let gone = try connection.run(
            "\(KeyedRows.delete(from: table.name, by: table.key[0])) RETURNING x.\(table.key[0]) AS key",
            [.integer(app.rawValue), .textArray(keys)]
        )
        removed[table.name, default: 0] += gone.count
        var keys: [String] = []
        for row in gone { keys.append(try row.text("key")) }
        return keys
    }

    /// Removes the answers about one of the customer's transactions or orders, with their child rows.
    private mutating func removeAnswers(
        _ kind: AnswerKind,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        let keys =
            kind.isKeyedByTransaction
            ? try CustomerTrace.keys(of: kind, about: trace.ids, app: app, on: connection).sorted()
            : trace.orders.map(\.text).sorted()
        for child in kind.children { _ = try remove(child, keys, on: connection) }
        _ = try remove(kind.table, keys, on: connection)
    }

    /// Removes the child rows of records.
    ///
    /// - Parameters:
    ///   - keys: The keys of the records.
    ///   - connection: Inside the transaction.
    /// - Throws: ``Postgres/PostgresError``; the transaction has then failed.
    private mutating func removeChildren(
        of keys: [String],
        in table: Table,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        let kind = RecordKind.ofPayloads(in: table)
        guard let owner = kind.ownerKind, !keys.isEmpty else { return }
        for child in kind.children {
            try delete(
                KeyedRows.delete(from: child.name, by: "owner_key", "x.owner_kind = $3"),
                [.textArray(keys), .text(owner)],
                of: child.name,
                on: connection
            )
        }
    }

    /// Removes the marks by which a replay records that the customer has changed.
    private mutating func removeChangeMarks(on connection: borrowing PostgresConnection) throws(PostgresError) {
        for (column, keys) in [("transaction_id", trace.transactions), ("app_transaction_id", trace.appTransactions)] {
            try delete(
                KeyedRows.delete(from: "changed_customers", by: column),
                [.textArray(keys.map(\.text))],
                of: "changed_customers",
                on: connection
            )
        }
    }

    /// Removes what receivers have stored of the customer.
    ///
    /// The rows of its first eight days stay; see `keep_first_received.sql`.
    ///
    /// The texts of refused notifications are not verified and can contain any ID. They are few and kept for a short time, so
    /// an erasure removes all of them. A notification that is not normalised and names the customer only by another ID is
    /// withheld by the tombstones when it is.
    private mutating func removeReceived(
        notifications: [String],
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        let table = "received_notifications"
        removed[table, default: 0] += try connection.run(
            .keepFirstReceived,
            [
                "app": .integer(app.rawValue),
                "customers": .textArray(trace.transactions.map(\.text)),
                "notifications": .textArray(notifications),
            ]
        ).affected
        for (column, keys) in [
            ("original_transaction_id", trace.transactions.map(\.text)), ("notification_uuid", notifications),
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

    /// Removes archived payloads, latest signatures and field issues of records.
    private mutating func removeEvidence(
        of kind: RecordKind,
        _ keys: [String],
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        guard !keys.isEmpty else { return }
        for table in [Tables.signedPayloads.name, "latest_signatures", Tables.fieldIssues.name] {
            try delete(
                KeyedRows.delete(from: table, by: "record_key", "x.kind = $3"),
                [.textArray(keys), .text(kind.rawValue)],
                of: table,
                on: connection
            )
        }
    }

    /// Removes rejected records of the customer's items, and those whose text contains one of the IDs.
    private mutating func removeRejects(on connection: borrowing PostgresConnection) throws(PostgresError) {
        let quoting = try QuotedIDs.keys(of: .rejected, quoting: trace.ids, app: app, on: connection)
        var gone: [String] = []
        for (column, type, keys) in [
            ("item_key", "text", (trace.transactions.union(trace.orders)).map(\.text)),
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

    /// Removes the items and coverage gaps of the customer's IDs.
    ///
    /// A worker that has leased one of the items loses its lease.
    ///
    /// - Parameters:
    ///   - keys: The customer's transaction IDs and order IDs.
    ///   - connection: Inside the transaction.
    /// - Throws: ``Postgres/PostgresError``; the transaction has then failed.
    private mutating func removeCrawlProgress(
        of keys: [String],
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        let keys = Cell.textArray(keys)
        for table in CrawlProgress.tables {
            try delete(
                """
                DELETE FROM \(table) x USING (SELECT * FROM \(CrawlProgress.rows(in: table, withKeys: "$2")) f OFFSET 0) o
                 WHERE x.app_id = o.app_id AND x.job = o.job AND x.stream = o.stream AND x.item_key = o.item_key
                """,
                [keys],
                of: table,
                on: connection
            )
        }
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
