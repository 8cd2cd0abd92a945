/// One column of a ``FigureTable``: its name in SQL, its heading, and the type of its values.
struct FigureColumn: Sendable, Equatable {
    /// The format of the values from PostgreSQL.
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
        /// 0 or more, with four decimal places; 1 is 100%.
        case rate
        /// A decimal number with two decimal places.
        case ratio
        /// Whole seconds.
        case seconds
    }

    let name: String
    let title: String
    let kind: Kind
    /// The column with the totals of which this column's counts are a part.
    ///
    /// Tables then show the share in percent.
    let whole: String?

    init(_ name: String, _ title: String, _ kind: Kind, of whole: String? = nil) {
        self.name = name
        self.title = title
        self.kind = kind
        self.whole = whole
    }
}

/// The result of one question, exactly as PostgreSQL wrote it, without rounding.
struct FigureTable: Sendable, Equatable {
    let columns: [FigureColumn]
    /// Each row has one cell for each column.
    let rows: [[String?]]
    /// The time of the data, ISO 8601 UTC; `nil` if the ledger does not have the app.
    let asOf: String?

    init(columns: [FigureColumn], rows: [[String?]], asOf: String? = nil) {
        self.columns = columns
        self.rows = rows
        self.asOf = asOf
    }

    var isEmpty: Bool { rows.isEmpty }

    /// The index of a column; asking for one that does not exist is an internal error.
    func place(of name: String) -> Int {
        guard let place = columns.firstIndex(where: { $0.name == name }) else {
            preconditionFailure("the report's table has no column \(name)")
        }
        return place
    }

    func values(_ name: String) -> [String?] {
        let place = place(of: name)
        return rows.map { $0[place] }
    }

    /// The whole numbers of a column, without unknown ones.
    func numbers(_ name: String) -> [Int64] { values(name).compactMap { $0.flatMap { Int64($0) } } }

    /// The rows of one currency.
    func of(currency: String?) -> FigureTable {
        let place = place(of: "currency")
        return having { $0[place] == currency }
    }

    /// The rows that satisfy a condition, in the same order.
    func having(_ condition: ([String?]) -> Bool) -> FigureTable {
        FigureTable(columns: columns, rows: rows.filter(condition), asOf: asOf)
    }

    /// Whether a month or day was not over at the time of the data, so that its figures can still change.
    func isPartial(_ value: String?, _ kind: FigureColumn.Kind) -> Bool {
        guard kind == .month || kind == .day, let value, let asOf else { return false }
        return asOf.prefix(value.count) == value
    }
}
