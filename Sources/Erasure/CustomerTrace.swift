import Ledger
import LedgerSchema
import Postgres
import StrictJSON

/// All IDs and records of one customer in the ledger.
///
/// Two records belong to the same customer if they share an `appTransactionId`, an original transaction ID, an
/// `appAccountToken`, or the listed ID of their history. Apple gives each family member separate transactions. For a
/// `FAMILY_SHARED` or `ASSIGNED` record only the `appTransactionId` counts, so that the members of a family, organization or
/// group are not erased with the payer.
struct CustomerTrace {
    /// Transaction IDs, original transaction IDs and listed IDs.
    private(set) var transactions: Set<ExactText> = []
    private(set) var appTransactions: Set<ExactText> = []
    /// Order IDs.
    private(set) var orders: Set<ExactText> = []
    private var accounts: Set<ExactText> = []

    /// - Parameter ids: IDs of the customer; ``follow(in:on:)`` finds the others.
    init(_ ids: some Sequence<CustomerID>) {
        for id in ids { add(id) }
    }

    /// All IDs so far.
    var ids: Set<CustomerID> {
        var ids = Set(transactions.map { CustomerID.transaction($0.text) })
        ids.formUnion(appTransactions.map { .appTransaction($0.text) })
        ids.formUnion(orders.map { .order($0.text) })
        ids.formUnion(accounts.compactMap { .account($0.text) })
        return ids
    }

    /// All IDs so far, as they stand in records.
    var texts: Set<String> { Set([transactions, appTransactions, orders, accounts].joined().map(\.text)) }

    /// Keys of the customer's refunds and notifications, by app and table.
    private var keys: [AppID: [String: Set<ExactText>]] = [:]
    /// The IDs that have already been looked up, by app.
    private var lookedUp: [AppID: Set<CustomerID>] = [:]

    /// The keys of the customer's rows in one table of one app, in order.
    func keys(in table: Table, of app: AppID) -> [String] {
        (keys[app]?[table.name] ?? []).map(\.text).sorted()
    }

    /// Follows the IDs through the apps' records until nothing new is found.
    ///
    /// Each ID is looked up once in each app, only in indexes, so the time depends on the customer's rows and not on
    /// the size of the ledger. IDs from one environment are also looked up in the other.
    mutating func follow(in apps: [AppID], on connection: borrowing PostgresConnection) throws(PostgresError) {
        var isSettled = false
        while !isSettled {
            isSettled = true
            for app in apps {
                let new = ids.subtracting(lookedUp[app] ?? [])
                guard !new.isEmpty else { continue }
                isSettled = false
                lookedUp[app, default: []].formUnion(new)
                for id in try QuotedIDs.keys(of: .appTransaction, quoting: new, app: app, on: connection) {
                    add(.appTransaction(id))
                }
                for id in try QuotedIDs.keys(of: .order, quoting: new, app: app, on: connection) { add(.order(id)) }
                try followFormerTokens(of: new, in: app, on: connection)
                for kind in AnswerKind.all where kind.isKeyedByOrder {
                    for id in try Self.keys(of: kind, about: new, app: app, on: connection) { add(.order(id)) }
                }
                for lookup in Self.lookups {
                    let parameters = [.integer(app.rawValue)] + Self.parameters(new, lookup.kinds)
                    for row in try connection.run(lookup.statement, parameters) {
                        try add(row)
                        guard let key = try row.textOrNil("key") else { continue }
                        keys[app, default: [:]][lookup.table.name, default: []].insert(ExactText(key))
                    }
                }
            }
        }
    }

    /// Follows the account tokens that only other signatures of a record have.
    private mutating func followFormerTokens(
        of new: Set<CustomerID>,
        in app: AppID,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        let tokens = new.filter { $0.kind == .account }
        let transactions = new.filter { $0.kind == .transaction }.map(\.text).sorted()
        for owner in [QuotedIDs.Owner.transaction, .renewalInfo] {
            for id in try QuotedIDs.keys(of: owner, quoting: tokens, app: app, on: connection) { add(.transaction(id)) }
            for id in try QuotedIDs.formerTokens(of: owner, transactions, app: app, on: connection) { add(id) }
        }
    }

    /// The keys of the answers about one of the transactions.
    private static func keys(
        of kind: AnswerKind,
        about ids: Set<CustomerID>,
        app: AppID,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> Set<String> {
        var keys: Set<String> = []
        for column in kind.customers {
            let source = column.table.name
            for row in try connection.run(
                KeyedRows.select("x.\(kind.key) AS key", from: source, by: column.name),
                [.integer(app.rawValue)] + parameters(ids, [.transaction])
            ) { keys.insert(try row.text("key")) }
        }
        return keys
    }

    private static func parameters(_ ids: Set<CustomerID>, _ kinds: [CustomerID.Kind]) -> [Cell] {
        kinds.map { kind in .textArray(ids.filter { $0.kind == kind }.map(\.text).sorted()) }
    }

    private mutating func add(_ id: CustomerID) {
        switch id.kind {
        case .transaction: transactions.insert(ExactText(id.text))
        case .appTransaction: appTransactions.insert(ExactText(id.text))
        case .account: accounts.insert(ExactText(id.text))
        case .order: orders.insert(ExactText(id.text))
        }
    }

    private mutating func add(_ row: PostgresRow) throws(PostgresError) {
        for column in ["transaction_id", "original", "previous", "listed"] {
            if let id = try row.textOrNil(column) { add(.transaction(id)) }
        }
        if let id = try row.textOrNil("app_transaction_id") { add(.appTransaction(id)) }
        if let token = try row.textOrNil("account"), let id = CustomerID.account(token) { add(id) }
    }

    /// A statement that returns the IDs and the key, as `key`, of a table's rows that share an ID with the customer.
    private struct Lookup {
        let table: Table
        let statement: String
        /// The kinds of the parameters from 2 on.
        let kinds: [CustomerID.Kind]

        /// - Parameters:
        ///   - table: The table of the rows, with the alias `t`.
        ///   - kinds: The kinds of the parameters from 2 on.
        ///   - columns: `key`, the IDs, and two Booleans that say which IDs are followed. `is_own`: the record is not a
        ///     family member's; all its IDs are followed. `is_alone`: the record is a family member's, but no other
        ///     Apple Account has its original transaction ID; so that ID is followed too.
        ///   - matches: A row belongs to the customer if any of these columns has one of the IDs in the parameter with
        ///     this number, and the condition on the row `r` is true.
        init(
            _ table: Table,
            _ kinds: [CustomerID.Kind],
            columns: String,
            matches: [(column: String, parameter: Int, condition: String)]
        ) {
            self.table = table
            self.kinds = kinds
            // OFFSET 0 makes the planner look up each ID separately by the index, for any expected number of rows.
            statement = matches.map { match in
                """
                SELECT r.key, r.transaction_id, r.app_transaction_id, r.listed, CASE WHEN r.is_own THEN r.account END AS account,
                       CASE WHEN r.is_own THEN r.previous END AS previous,
                       CASE WHEN r.is_own OR r.is_alone THEN r.original END AS original
                  FROM unnest($\(match.parameter)::text[]) AS w (id), LATERAL (
                       SELECT \(columns) FROM \(table.name) t
                        WHERE t.app_id = $1::integer AND t.\(match.column) = w.id\(match.column == "app_account_token" ? "::uuid" : "")
                       OFFSET 0) r
                 WHERE \(match.condition)
                """
            }.joined(separator: " UNION ")
        }
    }

    /// Whether a transaction or refund `t` belongs to a member of a family, organization or group with a separate Apple Account.
    private static let isFamilyMembers =
        "coalesce(t.in_app_ownership_type IN ('FAMILY_SHARED', 'ASSIGNED'), false) AND t.app_transaction_id IS NOT NULL"

    /// The lookups of all tables with a customer's records.
    ///
    /// Family members can share an original transaction ID, so it does not always identify one customer.
    private static let lookups = [
        Lookup(
            Tables.transactions,
            [.transaction, .appTransaction, .account],
            columns: """
                NULL AS key, t.transaction_id, t.app_transaction_id, t.listed_transaction_id AS listed,
                t.app_account_token::text AS account, t.previous_original_transaction_id AS previous,
                t.original_transaction_id AS original, NOT (\(isFamilyMembers)) AS is_own,
                \(isFamilyMembers) AND NOT EXISTS (
                    SELECT FROM transactions o WHERE o.app_id = $1 AND o.original_transaction_id = t.original_transaction_id
                       AND o.app_transaction_id IS DISTINCT FROM t.app_transaction_id) AS is_alone
                """,
            matches: [
                ("transaction_id", 2, "true"), ("listed_transaction_id", 2, "true"), ("app_transaction_id", 3, "true"),
                ("original_transaction_id", 2, "r.is_own"), ("app_account_token", 4, "r.is_own"),
            ]
        ),
        // A refund has a row in transactions too, which leads to the other IDs.
        Lookup(
            Tables.refunds,
            [.transaction, .appTransaction, .account],
            columns: """
                t.transaction_id AS key, NULL AS transaction_id, NULL AS app_transaction_id, NULL AS listed,
                NULL AS account, NULL AS previous, NULL AS original, NOT (\(isFamilyMembers)) AS is_own, false AS is_alone
                """,
            matches: [
                ("transaction_id", 2, "true"), ("app_transaction_id", 3, "true"),
                ("original_transaction_id", 2, "r.is_own"), ("app_account_token", 4, "r.is_own"),
            ]
        ),
        Lookup(
            Tables.notifications,
            [.transaction, .appTransaction, .account],
            columns: """
                t.notification_uuid AS key, t.transaction_id, t.app_transaction_id, NULL AS listed,
                t.app_account_token::text AS account, NULL AS previous, t.original_transaction_id AS original,
                coalesce(t.payload #>> '{data,signedTransactionInfo,inAppOwnershipType}' NOT IN ('FAMILY_SHARED', 'ASSIGNED'), true)
                    AS is_own,
                false AS is_alone
                """,
            matches: [
                ("transaction_id", 2, "true"), ("app_transaction_id", 3, "true"),
                ("original_transaction_id", 2, "r.is_own OR r.app_transaction_id IS NULL"),
                ("app_account_token", 4, "r.is_own"),
            ]
        ),
        Lookup(
            Tables.renewals,
            [.transaction, .appTransaction, .account],
            columns: """
                NULL AS key, NULL AS transaction_id, t.app_transaction_id, NULL AS listed,
                t.app_account_token::text AS account, NULL AS previous, t.original_transaction_id AS original,
                true AS is_own, false AS is_alone
                """,
            matches: [
                ("original_transaction_id", 2, "true"), ("app_transaction_id", 3, "true"),
                ("app_account_token", 4, "true"),
            ]
        ),
    ]
}
