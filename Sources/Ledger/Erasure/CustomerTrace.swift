import AppStoreModel
import LedgerTables
import Postgres

/// Everything in the ledger that names one customer, followed from ID to ID.
///
/// Two records are one customer's when they share an `appTransactionId`, an original transaction ID, an
/// `appAccountToken`, or the listed ID whose history they came with. Apple gives each family member transactions of
/// their own; a `FAMILY_SHARED` record follows its `appTransactionId` alone, so that nobody goes with the one who paid.
struct CustomerTrace {
    /// Transaction and original transaction IDs, and listed IDs.
    private(set) var transactions: Set<ExactText> = []
    private(set) var appTransactions: Set<ExactText> = []
    private(set) var accounts: Set<ExactText> = []

    init(_ ids: some Sequence<CustomerID>) {
        for id in ids { add(id) }
    }

    var ids: Set<CustomerID> {
        var ids = Set(transactions.map { CustomerID.transaction($0.text) })
        ids.formUnion(appTransactions.map { .appTransaction($0.text) })
        ids.formUnion(accounts.compactMap { .account($0.text) })
        return ids
    }

    /// Parameters 2 to 4 of every statement about the customer: transactions, app transactions, accounts.
    var parameters: [Cell] {
        [transactions, appTransactions, accounts].map { .textArray($0.map(\.text).sorted()) }
    }

    /// Follows the IDs through an app's records until nothing new is found.
    mutating func follow(in app: AppID, on connection: borrowing PostgresConnection) throws(PostgresError) {
        var known = -1
        while count > known {
            known = count
            for statement in Self.statements {
                for row in try connection.run(statement, [.integer(app.rawValue)] + parameters) {
                    try add(row)
                }
            }
        }
    }

    private var count: Int { transactions.count + appTransactions.count + accounts.count }

    private mutating func add(_ id: CustomerID) {
        switch id.kind {
        case .transaction: transactions.insert(ExactText(id.text))
        case .appTransaction: appTransactions.insert(ExactText(id.text))
        case .account: accounts.insert(ExactText(id.text))
        }
    }

    private mutating func add(_ row: PostgresRow) throws(PostgresError) {
        for column in ["transaction_id", "original", "previous", "listed"] {
            if let id = try row.textOrNil(column) { add(.transaction(id)) }
        }
        if let id = try row.textOrNil("app_transaction_id") { add(.appTransaction(id)) }
        if let id = try row.textOrNil("account").flatMap(CustomerID.account) { add(id) }
    }

    /// Of a transaction `t`: whether it belongs to a family member with an Apple Account of their own.
    private static func isFamilyMembers(_ t: String) -> String {
        "\(t).in_app_ownership_type IS NOT DISTINCT FROM 'FAMILY_SHARED' AND \(t).app_transaction_id IS NOT NULL"
    }

    /// Which transactions `t` are the customer's; parameters as in ``parameters``.
    static let ownsTransaction = """
        (t.transaction_id = ANY ($2::text[]) OR t.app_transaction_id = ANY ($3::text[])
         OR NOT (\(isFamilyMembers("t")))
            AND (t.original_transaction_id = ANY ($2) OR t.app_account_token = ANY ($4::text[]::uuid[])))
        """

    /// Which notifications `t` are the customer's.
    static let ownsNotification = """
        (t.transaction_id = ANY ($2::text[]) OR t.app_transaction_id = ANY ($3::text[])
         OR NOT (t.payload #>> '{data,signedTransactionInfo,inAppOwnershipType}' IS NOT DISTINCT FROM 'FAMILY_SHARED'
                 AND t.app_transaction_id IS NOT NULL)
            AND t.original_transaction_id = ANY ($2))
        """

    /// Which renewals `t` are the customer's.
    static let ownsRenewal = """
        (t.original_transaction_id = ANY ($2::text[]) OR t.app_transaction_id = ANY ($3::text[]))
        """

    /// Each gives IDs of records that share one with the customer.
    ///
    /// An original transaction ID that a family member shares with somebody else is nobody's name.
    private static let statements = [
        """
        SELECT DISTINCT t.transaction_id, t.app_transaction_id, t.listed_transaction_id AS listed,
               CASE WHEN NOT (\(isFamilyMembers("t"))) THEN t.app_account_token::text END AS account,
               CASE WHEN NOT (\(isFamilyMembers("t"))) THEN t.previous_original_transaction_id END AS previous,
               CASE WHEN NOT (\(isFamilyMembers("t"))) OR NOT EXISTS (
                        SELECT FROM transactions o WHERE o.app_id = $1 AND o.original_transaction_id = t.original_transaction_id
                           AND o.app_transaction_id IS DISTINCT FROM t.app_transaction_id)
                    THEN t.original_transaction_id END AS original
          FROM transactions t
         WHERE t.app_id = $1::integer AND (t.listed_transaction_id = ANY ($2::text[]) OR \(ownsTransaction))
        """,
        """
        SELECT DISTINCT t.transaction_id, t.app_transaction_id, NULL AS listed, NULL AS previous,
               CASE WHEN o.is_own THEN t.app_account_token::text END AS account,
               CASE WHEN o.is_own THEN t.original_transaction_id END AS original
          FROM notifications t, LATERAL (
               SELECT t.payload #>> '{data,signedTransactionInfo,inAppOwnershipType}' IS DISTINCT FROM 'FAMILY_SHARED' AS is_own) o
         WHERE t.app_id = $1::integer AND \(ownsNotification) AND $4::text[] IS NOT NULL
        """,
        """
        SELECT DISTINCT NULL AS transaction_id, t.app_transaction_id, NULL AS listed, NULL AS previous,
               t.app_account_token::text AS account, t.original_transaction_id AS original
          FROM renewals t WHERE t.app_id = $1::integer AND \(ownsRenewal) AND $4::text[] IS NOT NULL
        """,
    ]
}
