/// One column of a ``FigureTable``: its name in SQL, its title, and the format of its values.
package struct FigureColumn: Sendable, Equatable {
    /// The format of the values.
    package enum Kind: Sendable, Equatable {
        case text
        /// `2026-11`.
        case month
        /// `2026-11-22`.
        case day
        /// `2026-11-22T04:05:06Z`.
        case moment
        /// A whole number.
        case count
        /// Thousandths of a unit of the row's `currency`.
        case money
        /// 0 to 1, four digits after the point.
        case rate
        /// Whole seconds.
        case seconds
    }

    package let name: String
    package let title: String
    package let kind: Kind

    package init(_ name: String, _ title: String, _ kind: Kind) {
        self.name = name
        self.title = title
        self.kind = kind
    }
}

/// The result of one ``ReportQuestion``, as text from PostgreSQL, without rounding.
package struct FigureTable: Sendable, Equatable {
    package let columns: [FigureColumn]
    /// The rows; each has one cell per column.
    package let rows: [[String?]]

    package init(columns: [FigureColumn], rows: [[String?]]) {
        self.columns = columns
        self.rows = rows
    }

    package var isEmpty: Bool { rows.isEmpty }

    /// The index of a column, which must exist.
    package func place(of name: String) -> Int {
        guard let place = columns.firstIndex(where: { $0.name == name }) else {
            preconditionFailure("the report's table has no column \(name)")
        }
        return place
    }

    /// The values of a column, from the first row to the last.
    package func values(_ name: String) -> [String?] {
        let place = place(of: name)
        return rows.map { $0[place] }
    }

    /// The integers of a column, without missing values.
    package func numbers(_ name: String) -> [Int64] { values(name).compactMap { $0.flatMap { Int64($0) } } }

    /// The rows of one currency.
    package func of(currency: String?) -> FigureTable {
        let place = place(of: "currency")
        return FigureTable(columns: columns, rows: rows.filter { $0[place] == currency })
    }
}
