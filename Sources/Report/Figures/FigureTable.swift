/// The answer to one question, exactly as PostgreSQL wrote it, without rounding.
struct FigureTable: Sendable, Equatable {
    /// The names of the columns in SQL.
    let columns: [String]
    /// Each row has one cell for each column.
    let rows: [[String?]]
    /// The time of the data, ISO 8601 UTC; `nil` if the ledger does not have the app.
    var asOf: String?

    init(columns: [String], rows: [[String?]], asOf: String? = nil) {
        self.columns = columns
        self.rows = rows
        self.asOf = asOf
    }

    var isEmpty: Bool { rows.isEmpty }

    /// The index of a column; asking for one that does not exist is an internal error.
    func place(of name: String) -> Int {
        guard let place = columns.firstIndex(of: name) else {
            preconditionFailure("the report's table has no column \(name)")
        }
        return place
    }

    func values(_ name: String) -> [String?] {
        let place = place(of: name)
        return rows.map { $0[place] }
    }
}
