/// One column of a ``FigureTable``: its name in SQL, what a reader sees above it, and how its values are to be read.
struct FigureColumn: Sendable, Equatable {
    /// How PostgreSQL wrote the values.
    enum Kind: Sendable, Equatable {
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

    let name: String
    let title: String
    let kind: Kind

    init(_ name: String, _ title: String, _ kind: Kind) {
        self.name = name
        self.title = title
        self.kind = kind
    }
}

/// What the ledger answers to one question, in PostgreSQL's own words; nothing is rounded on the way.
struct FigureTable: Sendable, Equatable {
    let columns: [FigureColumn]
    /// As many cells in each as there are columns.
    let rows: [[String?]]

    init(columns: [FigureColumn], rows: [[String?]]) {
        self.columns = columns
        self.rows = rows
    }

    var isEmpty: Bool { rows.isEmpty }

    /// Where a column stands; asking for one that is not there is a bug.
    func place(of name: String) -> Int {
        guard let place = columns.firstIndex(where: { $0.name == name }) else {
            preconditionFailure("the report's table has no column \(name)")
        }
        return place
    }

    /// The values of a column, from the first row to the last.
    func values(_ name: String) -> [String?] {
        let place = place(of: name)
        return rows.map { $0[place] }
    }

    /// The whole numbers of a column; what is not known is left out.
    func numbers(_ name: String) -> [Int64] { values(name).compactMap { $0.flatMap { Int64($0) } } }

    /// The rows of one currency.
    func of(currency: String?) -> FigureTable {
        let place = place(of: "currency")
        return FigureTable(columns: columns, rows: rows.filter { $0[place] == currency })
    }
}
