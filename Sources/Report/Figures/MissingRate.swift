/// What a converted amount lacks, because a currency has no rate on the day.
///
/// The script of the page says it in the same words for another choice.
struct MissingRate: Sendable {
    /// One currency, and what is left out of it.
    struct Part: Sendable {
        let currency: String
        /// How many purchases, subscriptions or customers; `nil` if the chart has no such count.
        var count: Double?
        /// The amount, in thousandths of a unit of the currency; `nil` if it is not known.
        var amount: Double?
    }

    var parts: [Part]
    /// What is counted: `purchases`.
    var noun = ""
    /// The count of everything.
    var whole: Double?

    /// The currencies: `VND`, or their number if they are more than three.
    private var names: String {
        parts.count > 3 ? "\(parts.count) currencies" : parts.map(\.currency).joined(separator: ", ")
    }

    /// `without VND: 20 of 97 purchases, 2,026,000 VND`.
    var sentence: String {
        let counted = count.map { count in
            FigureText.words(count, .count) + (whole.map { " of \(FigureText.words($0, .count))" } ?? "") + " \(noun)"
        }
        let amounts =
            parts.count > 3
            ? []
            : parts.compactMap { part in
                part.amount.map { "\(FigureText.money($0, currency: part.currency)) \(part.currency)" }
            }
        let size = ([counted].compactMap(\.self) + amounts).joined(separator: ", ")
        return "without \(names)\(size.isEmpty ? "" : ": \(size)")"
    }

    /// `VND: 20 purchases`, for a cell.
    var brief: String {
        names + (count.map { ": \(FigureText.words($0, .count)) \($0 == 1 ? String(noun.dropLast()) : noun)" } ?? "")
    }

    private var count: Double? {
        noun.isEmpty || parts.contains { $0.count == nil } ? nil : parts.reduce(0) { $0 + ($1.count ?? 0) }
    }

    /// The counts that a sentence names.
    static let nouns: Set = ["purchases", "subscriptions", "customers", "upgrades"]
}

/// Whether a value has everything that it should have.
enum Coverage: Sendable {
    case whole
    /// A part has no rate.
    case part
    /// Nothing of it has a rate, so it is no amount.
    case none
}

extension DefaultChoice {
    /// Whether a value of a row is an amount of everything.
    func coverage(_ column: FigureColumn, of row: Row, _ chart: ReportChart) -> Coverage {
        let read = chart.money(in: column)
        guard (row.sum("unrated") ?? 0) > 0, !read.isEmpty else { return .whole }
        func has(_ names: [String]) -> Bool { names.contains { (row.sum($0) ?? 0) != 0 } }
        if has(read.map(\.name)) { return .part }
        let amounts = ReportChart.named(chart.source).measures.filter { $0.kind == .money }
        return has(read.map(\.lack)) || !has(amounts.map(\.name)) ? .none : .part
    }

    /// What the rows of a chart lack, by their names joined; empty if every amount has a rate.
    ///
    /// - Parameters:
    ///   - names: As in ``sums(of:by:in:)``.
    ///   - months: The months that count.
    ///   - column: Whose amounts are said; `nil` for the one that is drawn first.
    func missingRates(
        of chart: ReportChart,
        by names: [String],
        in months: ClosedRange<Int>,
        column: FigureColumn? = nil
    ) -> [[String?]: MissingRate] {
        guard figures.scope.reporting != nil, chart.hasMoney else { return [:] }
        // Proceeds are converted by the view, which has no currency; they lack what sales lack.
        let counted = chart.isConverted ? .named("sales") : chart, source = ReportChart.named(counted.source)
        guard source.isConvertible else { return [:] }
        let noun = source.measures.first {
            MissingRate.nouns.contains($0.name) && ($0.total == .sum || $0.total == .last)
        }
        let main = chart.isConverted ? nil : column ?? counted.wholeColumn
        var found: [[String?]: MissingRate] = [:]
        for row in sums(of: counted, by: names + ["currency"], in: months).sorted(by: {
            Self.place($0) < Self.place($1)
        })
        where (row.sum("unrated") ?? 0) > 0 {
            let currency = figures.scope.name("currency", Self.place(row))
            let isNamed = Self.place(row) > 0 && main?.kind == .money && main?.formula?.divisor.isEmpty != false
            let amount = isNamed ? main.flatMap { Self.unconverted($0, row) } : nil
            found[Array(row.names.dropLast()), default: MissingRate(parts: [], noun: noun?.name ?? "")].parts.append(
                MissingRate.Part(currency: currency, count: noun.flatMap { row.sum($0.lack) }, amount: amount)
            )
        }
        return found
    }

    /// The same for everything in one.
    func missingRate(of chart: ReportChart, in months: ClosedRange<Int>, column: FigureColumn? = nil) -> MissingRate? {
        guard var missing = missingRates(of: chart, by: [], in: months, column: column)[[]] else { return nil }
        let counted = chart.isConverted ? .named("sales") : chart
        missing.whole = missing.noun.isEmpty ? nil : sums(of: counted, by: [], in: months).first?.sum(missing.noun)
        return missing
    }

    private static func place(_ row: Row) -> Int { row.names.last.flatMap(\.self).flatMap { Int($0) } ?? -1 }

    private static func unconverted(_ column: FigureColumn, _ row: Row) -> Double? {
        guard let formula = column.formula else { return row.sum(column.name + "_unconverted") }
        return formula.value { row.sum($0 + "_unconverted") ?? 0 }
    }
}

extension ReportChart {
    /// The column that is drawn first, or the first number.
    var mainColumn: FigureColumn? {
        columns.first { $0.name == drawing?.series.first?.column } ?? columns.first { $0.isShown && $0.kind.isNumber }
    }

    /// The column of which the main one is a part, or itself.
    var wholeColumn: FigureColumn? { columns.first { $0.name == mainColumn?.whole } ?? mainColumn }
}
