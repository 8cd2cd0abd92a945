/// A kind of answer that Apple does not sign: its tables, and how a customer's answers are found.
///
/// To add a kind, add one file with its tables and its value, and one line in ``all``. The ledger stores, replaces and erases
/// answers by this registry.
package struct AnswerKind: Hashable, Sendable {
    /// A column of one of the kind's tables.
    package struct TableColumn: Hashable, Sendable {
        package let table: Table
        package let name: String
        /// Which of a customer's IDs the column has.
        package let keys: CustomerKeys

        init(table: Table, name: String, keys: CustomerKeys = .transactions) {
            self.table = table
            self.name = name
            self.keys = keys
        }
    }

    /// The table with the newest answer for each key.
    ///
    /// A kind with ``children`` has a key of one column.
    ///
    /// After the columns here it has `asked_at`, the time of the answer, and the ledger's own `last_run_id` and
    /// `last_changed_at`.
    package let table: Table
    /// Tables whose rows belong to one answer and are replaced with it; each has the key of ``table`` as a column.
    package let children: [Table]
    /// The columns with the IDs of the answer's customers, by which an erasure finds the answers.
    ///
    /// Each table has an index on `app_id` and the column. If the key is one of the columns, an erasure uses no other.
    package let customers: [TableColumn]
    /// Columns of ``table`` that can differ although Apple answers the same, such as a signing date.
    ///
    /// A difference in them is not a change, so it makes no view stale.
    package let volatile: [String]

    init(table: Table, children: [Table] = [], customers: [TableColumn], volatile: [String] = []) {
        self.table = table
        self.children = children
        self.customers = customers
        self.volatile = volatile
    }

    /// The column that identifies an answer, or the first of several.
    package var key: String { table.key[0] }

    /// Whether the key is an order ID, so that only ``children`` have IDs of customers.
    package var isKeyedByOrder: Bool { !customers.contains { $0.table == table } }

    /// By which columns of each table an erasure finds a customer's rows.
    var customerKeys: [(column: String, keys: CustomerKeys)] {
        isKeyedByOrder ? [(key, .orders)] : customers.map { ($0.name, $0.keys) }
    }

    /// The registry, in the order in which every transaction writes the kinds.
    package static let all: [AnswerKind] = [.subscriptionStatus, .order, .customerGroup, .groupMember, .seats]
}
