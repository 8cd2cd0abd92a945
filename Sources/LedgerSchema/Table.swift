package import Postgres

/// A table of the ledger.
///
/// Every table begins with `app_id`, which is not in `columns` and `key`: the ledger adds it.
package struct Table: Hashable, Sendable {
    package let name: String
    /// In the order of the cells of a ``Row``, without `app_id` and the ledger's own columns.
    package let columns: [Column]
    /// The columns of the primary key after `app_id`.
    package let key: [String]
    /// The names of the columns that a later migration than the table's own has added.
    ///
    /// While such a column is NULL, it does not change the hash of a row's content. Otherwise an upgrade would make every
    /// row of the ledger look changed.
    package let addedColumns: Set<String>
    /// The facts: columns about something that cannot change about a purchase, such as its price.
    ///
    /// A newer signature that leaves a fact out does not clear its column.
    package let facts: [Fact]

    /// A column, and the field of Apple's from which it is read.
    package struct Fact: Hashable, Sendable {
        package let column: String
        package let field: String

        init(_ column: String, _ field: String) {
            self.column = column
            self.field = field
        }
    }

    package init(
        _ name: String,
        key: [String],
        columns: [Column],
        addedColumns: Set<String> = [],
        facts: [Fact] = []
    ) {
        self.name = name
        self.key = key
        self.columns = columns
        self.addedColumns = addedColumns
        self.facts = facts
    }
}
