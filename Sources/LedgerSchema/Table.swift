/// A table of the ledger.
///
/// Every table begins with `app_id`, which is not in `columns` and `key`: the ledger adds it.
package struct Table: Hashable, Sendable {
    package let name: String
    /// In the order of the cells of a ``Row``, without `app_id` and the ledger's own columns.
    package let columns: [Column]
    /// The columns of the primary key after `app_id`.
    package let key: [String]

    package init(_ name: String, key: [String], columns: [Column]) {
        self.name = name
        self.key = key
        self.columns = columns
    }
}
