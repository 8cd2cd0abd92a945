import AppStoreModel

/// A list of IDs that a job file names.
package enum IDList: Equatable, Sendable {
    /// IDs in the job file: at least one, in their order in the file, possibly with duplicates.
    case list([String])
    /// A CSV file; without a column name, its first column.
    case csv(path: String, column: String?)
    /// One SELECT or WITH statement for the job's database, without a semicolon.
    ///
    /// Its first column has the IDs.
    case query(String)

    /// Identifies the source for resuming a run.
    ///
    /// It does not contain the path and content of a CSV file or the result of a query: a resumed run keeps its
    /// original IDs, on any machine and in any directory.
    package var fingerprint: String {
        switch self {
        case .list(let ids): "list " + Set(ids).sorted().joined(separator: ",")
        case .csv(_, let column): "csv \(column ?? "")"
        case .query(let sql): "query \(sql)"
        }
    }

    /// The key of the job file that names the list, below `section`: `transactionIds.csv`.
    package func keyPath(in section: String) -> String {
        switch self {
        case .list: "\(section).list"
        case .csv: "\(section).csv"
        case .query: "\(section).query"
        }
    }

    /// Whether the IDs can change without a change of the job file.
    package var mayChange: Bool {
        if case .list = self { return false }
        return true
    }
}

/// What the IDs of a list identify, and which texts are valid.
package enum IDKind: Sendable {
    /// A transaction ID of the customer.
    case transaction
    /// An order ID from the customer's receipt by e-mail.
    case order

    /// The key of the job file that contains the list.
    package var key: String {
        switch self {
        case .transaction: "transactionIds"
        case .order: "orderIds"
        }
    }

    /// The usual name of the column with the IDs in a CSV file.
    package var columnName: String {
        switch self {
        case .transaction: "transaction_id"
        case .order: "order_id"
        }
    }

    /// As in "is not a transaction ID".
    package var name: String {
        switch self {
        case .transaction: "a transaction ID"
        case .order: "an order ID"
        }
    }

    /// A valid ID, as in "an ID is one to twenty digits".
    package var rule: String {
        switch self {
        case .transaction: "one to twenty digits"
        case .order: "one to sixty-four letters, digits, hyphens and underscores"
        }
    }

    /// The same rule as a regular expression of PostgreSQL.
    package var pattern: String {
        switch self {
        case .transaction: "^[0-9]{1,20}$"
        case .order: "^[A-Za-z0-9_-]{1,64}$"
        }
    }

    package func accepts(_ text: String) -> Bool {
        switch self {
        case .transaction: TransactionID(text) != nil
        case .order: OrderID(text) != nil
        }
    }
}
