/// A table of the ledger.
///
/// Every one begins with `app_id`, which is neither in `columns` nor in `key`: the ledger adds it.
package struct Table: Hashable, Sendable {
    package let name: String
    /// In the order of the cells of a ``Row``; `app_id` and the ledger's own columns are not among them.
    package let columns: [Column]
    /// Names of the columns that, after `app_id`, make the primary key.
    package let key: [String]

    package init(_ name: String, key: [String], columns: [Column]) {
        self.name = name
        self.key = key
        self.columns = columns
    }
}
