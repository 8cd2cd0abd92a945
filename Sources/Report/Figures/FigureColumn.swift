/// One column of a chart's figures: its name in SQL, its heading, and how its values are written and added up.
struct FigureColumn: Sendable, Equatable {
    /// The format of the values from PostgreSQL.
    enum Kind: String, Sendable {
        case text
        /// `2026-11`.
        case month
        /// `2026-11-22`.
        case day
        /// `2026-11-22T04:05:06Z`.
        case moment
        /// A whole number.
        case count
        /// Thousandths of a unit of the row's currency.
        case money
        /// 1 is 100%.
        case rate
        /// A decimal number.
        case ratio
        /// Whole seconds.
        case seconds

        /// Whether values can be added up.
        var isNumber: Bool { self == .count || self == .money || self == .rate || self == .ratio || self == .seconds }
    }

    /// How the values of several days become one.
    enum Total: String, Sendable {
        case sum
        /// The first one, as of a number at the beginning.
        case first
        /// The last one, as of a number at the end.
        case last
        /// In a heat map, the sum of this month and those before it.
        case soFar
    }

    let name: String
    let title: String
    let kind: Kind
    var total = Total.sum
    /// The column with the totals of which this column's counts are a part.
    ///
    /// Tables then show the share in percent.
    var whole: String?
    /// Whether tables leave it out while it is zero in every row.
    var isOptional = false
    /// How it follows from other columns; `nil` for a column of the SQL.
    var formula: FigureFormula?

    /// The column of the answer with the part that has no rate: of an amount in its own currency, of a count as a count.
    var lack: String { name + (kind == .money ? "_unconverted" : "_unrated") }

    /// A column without a title is only for formulas.
    var isShown: Bool { !title.isEmpty }
}

/// A sum of columns, or one sum divided by another: `gross - refunded`, `12 * mrr`, `refunded / purchases`.
struct FigureFormula: Sendable, Equatable {
    struct Term: Sendable, Equatable {
        var factor: Double
        let column: String
    }

    let sum: [Term]
    /// Empty if nothing is divided.
    let divisor: [Term]

    /// - Returns: `nil` for text that is no formula.
    init?(_ text: Substring) {
        let sides = text.split(separator: "/", omittingEmptySubsequences: false)
        let sums = sides.map(Self.terms)
        guard (1...2).contains(sums.count), let sum = sums[0], sums.count == 1 || sums[1] != nil else { return nil }
        self.sum = sum
        divisor = sums.count == 2 ? sums[1] ?? [] : []
    }

    private static func terms(_ text: Substring) -> [Term]? {
        var terms: [Term] = []
        var factor = 1.0
        for word in text.split(whereSeparator: { " ()".contains($0) }) {
            switch word {
            case "+": factor = 1
            case "-": factor = -1
            case "*": continue
            default:
                if let number = Double(word) {
                    factor *= number
                } else {
                    terms.append(Term(factor: factor, column: String(word)))
                    factor = 1
                }
            }
        }
        return terms.isEmpty ? nil : terms
    }

    /// Every column that it reads.
    var columns: [String] { (sum + divisor).map(\.column) }

    /// - Parameter value: A column's value; unknown values are `nil`.
    /// - Returns: `nil` if a value is unknown or the divisor is zero.
    func value(_ value: (String) -> Double?) -> Double? {
        guard let dividend = Self.total(sum, value) else { return nil }
        if divisor.isEmpty { return dividend }
        guard let whole = Self.total(divisor, value), whole != 0 else { return nil }
        return dividend / whole
    }

    /// The sum of terms; `nil` if a value is unknown.
    static func total(_ terms: [Term], _ value: (String) -> Double?) -> Double? {
        var total = 0.0
        for term in terms {
            guard let number = value(term.column) else { return nil }
            total += term.factor * number
        }
        return total
    }
}
