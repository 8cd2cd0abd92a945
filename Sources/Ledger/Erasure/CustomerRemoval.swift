import AppStoreModel
import LedgerTables
import Postgres
import Workers

/// Removes one customer from one app's tables, inside the caller's transaction.
struct CustomerRemoval {
    private let trace: CustomerTrace
    private let tombstones: Tombstones
    /// Rows by table.
    private(set) var removed: [String: Int] = [:]

    /// Rejected texts read at a time; each has up to 64 KiB.
    private static let batch = 200

    /// - Parameters:
    ///   - trace: Followed to its end.
    ///   - tombstones: Of the app, the trace's own among them.
    init(trace: CustomerTrace, tombstones: Tombstones) {
        self.trace = trace
        self.tombstones = tombstones
    }

    private var app: Cell { .integer(tombstones.app.rawValue) }

    mutating func remove(on connection: borrowing PostgresConnection) throws {
        let quoting = try notificationsQuotingCustomers(on: connection)
        let transactions = try remove(Tables.transactions, where: CustomerTrace.ownsTransaction, on: connection)
        let refunds = try remove(Tables.refunds, where: CustomerTrace.ownsTransaction, on: connection)
        let renewals = try remove(Tables.renewals, where: CustomerTrace.ownsRenewal, on: connection)
        let notifications = try remove(
            Tables.notifications,
            where: "(\(CustomerTrace.ownsNotification) OR t.notification_uuid = ANY ($5::text[]))",
            [.textArray(quoting)],
            on: connection
        )
        crashPoint(.erasedRowsRemoved)
        try removeOwned(by: transactions + refunds, in: Tables.transactions, on: connection)
        try removeOwned(by: renewals, in: Tables.renewals, on: connection)
        try delete(
            "DELETE FROM notification_send_attempts WHERE app_id = $1 AND notification_uuid = ANY ($2::text[])",
            [.textArray(notifications)],
            of: "notification_send_attempts",
            on: connection
        )
        let chains = trace.transactions.map(\.text)
        try removeEvidence(of: "transaction", transactions + refunds + chains, on: connection)
        try removeEvidence(of: "renewalInfo", renewals + chains, on: connection)
        try removeEvidence(of: "notification", notifications, on: connection)
        try removeEvidence(of: "appTransaction", trace.appTransactions.map(\.text), on: connection)
        try removeRejects(on: connection)
        try removeCrawls(on: connection)
        try removeMentions(on: connection)
    }

    /// Removes an app's rows `t` of a table of records.
    ///
    /// - Returns: Their keys.
    private mutating func remove(
        _ table: Table,
        where isOwn: String,
        _ more: [Cell] = [],
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> [String] {
        let gone = try connection.run(
            """
            DELETE FROM \(table.name) t
             WHERE t.app_id = $1::integer AND \(isOwn) AND $4::text[] IS NOT NULL RETURNING t.\(table.key[0]) AS key
            """,
            [app] + trace.parameters + more
        )
        removed[table.name, default: 0] += gone.count
        var keys: [String] = []
        for row in gone { keys.append(try row.text("key")) }
        return keys
    }

    private mutating func removeOwned(
        by keys: [String],
        in table: Table,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        guard let owner = Tables.ownerKind(of: table), !keys.isEmpty else { return }
        for child in Tables.owned {
            try delete(
                "DELETE FROM \(child.name) WHERE app_id = $1 AND owner_kind = $2 AND owner_key = ANY ($3::text[])",
                [.text(owner), .textArray(keys)],
                of: child.name,
                on: connection
            )
        }
    }

    /// The raw archive and the odd fields of records.
    private mutating func removeEvidence(
        of kind: String,
        _ keys: [String],
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        guard !keys.isEmpty else { return }
        for table in [Tables.signedPayloads, Tables.fieldIssues] {
            try delete(
                "DELETE FROM \(table.name) WHERE app_id = $1 AND kind = $2 AND record_key = ANY ($3::text[])",
                [.text(kind), .textArray(keys)],
                of: table.name,
                on: connection
            )
        }
    }

    /// Rejects of the customer's own crawls, and those in whose text an erased ID can be found.
    private mutating func removeRejects(on connection: borrowing PostgresConnection) throws {
        try delete(
            "DELETE FROM rejected_records WHERE app_id = $1 AND item_key = ANY ($2::text[])",
            [.textArray(trace.transactions.map(\.text))],
            of: "rejected_records",
            on: connection
        )
        var last: Int64 = 0
        while true {
            let rows = try connection.run(
                """
                SELECT record_id, raw, detail FROM rejected_records
                 WHERE app_id = $1 AND record_id > $2 ORDER BY record_id LIMIT $3::bigint
                """,
                [app, .bigint(last), .bigint(Int64(Self.batch))]
            )
            var texts: [(key: String, ids: Set<CustomerID>)] = []
            for row in rows {
                last = try row.int64("record_id")
                let ids = IDTraces.ids(in: try row.bytes("raw")).union(IDTraces.ids(in: try row.utf8("detail")))
                texts.append((String(last), ids))
            }
            guard !texts.isEmpty else { return }
            try delete(
                "DELETE FROM rejected_records WHERE app_id = $1 AND record_id = ANY ($2::text[]::bigint[])",
                [.textArray(try naming(texts, on: connection))],
                of: "rejected_records",
                on: connection
            )
        }
    }

    /// Notifications that name no transaction although their text, in the archive, quotes an erased ID: what they quote
    /// was not believed.
    private func notificationsQuotingCustomers(on connection: borrowing PostgresConnection) throws -> [String] {
        var quoting: [String] = []
        var last = ""
        while true {
            let rows = try connection.run(
                """
                SELECT n.notification_uuid, coalesce(p.payload, '') AS payload
                  FROM (SELECT n.notification_uuid FROM notifications n
                         WHERE n.app_id = $1 AND n.transaction_id IS NULL AND n.notification_uuid > $2
                         ORDER BY n.notification_uuid LIMIT $3::bigint) n
                  LEFT JOIN signed_payloads p
                    ON p.app_id = $1 AND p.kind = 'notification' AND p.record_key = n.notification_uuid
                 ORDER BY n.notification_uuid
                """,
                [app, .text(last), .bigint(Int64(Self.batch))]
            )
            var texts: [(key: String, ids: Set<CustomerID>)] = []
            for row in rows {
                last = try row.text("notification_uuid")
                texts.append((last, IDTraces.ids(in: try row.bytes("payload"))))
            }
            guard !texts.isEmpty else { return quoting }
            quoting += try naming(texts, on: connection)
        }
    }

    /// Keys of the texts that hold an erased ID.
    private func naming(
        _ texts: [(key: String, ids: Set<CustomerID>)],
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> [String] {
        var all: Set<CustomerID> = []
        for text in texts { all.formUnion(text.ids) }
        let erased = try tombstones.erased(among: all, on: connection)
        return texts.filter { !erased.isDisjoint(with: $0.ids) }.map(\.key)
    }

    /// The crawls of the customer's own IDs; a worker that holds one finds its lease gone.
    private mutating func removeCrawls(on connection: borrowing PostgresConnection) throws(PostgresError) {
        for table in ["crawl_items", "coverage_gaps"] {
            try delete(
                "DELETE FROM \(table) WHERE app_id = $1 AND item_key = ANY ($2::text[])",
                [.textArray(trace.transactions.map(\.text))],
                of: table,
                on: connection
            )
        }
    }

    /// Samples and messages that happen to quote an ID.
    private mutating func removeMentions(on connection: borrowing PostgresConnection) throws(PostgresError) {
        let ids: Cell = .textArray(trace.ids.map(\.text))
        let quotes = { (column: String) in
            "EXISTS (SELECT FROM unnest($2::text[]) AS id WHERE position(id IN lower(\(column))) > 0)"
        }
        try delete(
            "DELETE FROM schema_drift WHERE app_id = $1 AND (\(quotes("path")) OR \(quotes("sample")))",
            [ids],
            of: "schema_drift",
            on: connection
        )
        _ = try connection.run("UPDATE runs SET message = NULL WHERE app_id = $1 AND \(quotes("message"))", [app, ids])
    }

    /// Runs a statement whose first parameter is the app, and counts what it removes.
    private mutating func delete(
        _ statement: String,
        _ parameters: [Cell],
        of table: String,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        removed[table, default: 0] += try connection.run(statement, [app] + parameters).affected
    }
}
