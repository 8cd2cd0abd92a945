import AppStoreModel
import StrictJSON

/// One of the figures at the top: a column of a chart over the whole range.
struct KeyFigure: Sendable {
    let name: String
    let chart: String
    let column: String
    /// Whether more is better.
    var isGood = true

    static let all = [
        KeyFigure(name: "Net sales before commission and tax", chart: "sales", column: "net"),
        KeyFigure(name: "Estimated proceeds", chart: "proceeds", column: "proceeds"),
        KeyFigure(name: "MRR", chart: "mrr", column: "mrr"),
        KeyFigure(name: "ARR", chart: "mrr", column: "arr"),
        KeyFigure(name: "Paid subscriptions", chart: "active", column: "active"),
        KeyFigure(name: "Trials", chart: "active", column: "trials"),
        KeyFigure(name: "New customers", chart: "new-customers", column: "customers"),
        KeyFigure(name: "Trial conversion", chart: "trial-conversion", column: "rate"),
        KeyFigure(name: "Refund rate", chart: "refunds-by-month", column: "rate", isGood: false),
        KeyFigure(name: "Delivered to our server", chart: "deliveries", column: "taken"),
    ]

    var json: JSONValue {
        .object([
            ("name", .string(name)), ("chart", .string(chart)), ("column", .string(column)), ("good", .bool(isGood)),
        ])
    }
}

/// The key figures, each with its change from the range before.
struct KeyFigures {
    let choice: DefaultChoice

    var html: HTML {
        let tiles = KeyFigure.all.compactMap(tile) + [lastRun].compactMap(\.self)
        return tiles.isEmpty ? .empty : "<dl class=\"tiles\" id=\"tiles\" aria-label=\"Key figures\">\n\(tiles)</dl>\n"
    }

    private func tile(_ figure: KeyFigure) -> HTML? {
        let chart = ReportChart.named(figure.chart)
        let source = ReportChart.named(chart.source)
        guard let column = chart.columns.first(where: { $0.name == figure.column }), source.time != nil,
            !choice.figures[chart].isEmpty
        else { return nil }
        let currency = column.kind == .money ? choice.currency(of: chart) : nil
        // The present month would be too low.
        let months = choice.monthsOver
        let earlier = months.lowerBound - months.count...months.lowerBound - 1
        let isAtEnd = column.total == .last
        let isCovered =
            isAtEnd
            ? choice.reaches(earlier.upperBound, chart)
            : choice.reaches(earlier.lowerBound, chart) && (figure.chart != "deliveries" || !hasGap(in: earlier))
        guard let row = choice.sums(of: chart, by: [], in: months).first, let now = row.value(column) else {
            return nil
        }
        let past = isCovered ? choice.sums(of: chart, by: [], in: earlier).first : nil
        let than = isAtEnd ? "the end of \(Self.month(earlier.upperBound))" : Self.span(earlier)
        var remark = currency.map { words(of: $0) + ", " } ?? ""
        remark += isAtEnd ? "at the end of \(Self.month(months.upperBound))" : Self.span(months)
        if column.kind == .rate, let formula = column.formula {
            let counts = [formula.sum, formula.divisor].map {
                FigureText.words(FigureFormula.total($0) { row.sum($0) }, .count)
            }
            remark += ", \(counts[0]) of \(counts[1])"
        }
        let coverage = choice.coverage(column, of: row, chart)
        let lack: HTML =
            coverage == .whole
            ? .empty
            : choice.missingRate(of: chart, in: months, column: column).map {
                "<dd class=\"remark lacks\">\($0.sentence)</dd>"
            } ?? .empty
        let change = past.flatMap { past -> HTML? in
            guard let before = past.value(column) else { return nil }
            guard coverage == .whole, choice.coverage(column, of: past, chart) == .whole else {
                return "<dd class=\"change same\">no comparison: rates are missing</dd>"
            }
            return FigureChange(
                from: before,
                to: now,
                kind: column.kind,
                currency: currency,
                isGood: figure.isGood,
                than: than
            ).html
        }
        return """
            <div class="tile" id="tile-\(figure.chart)-\(figure.column)"><dt>\(figure.name)</dt>\
            <dd><a href="#card-\(figure.chart)">\(coverage == .none ? "no rate" : FigureText.words(now, column.kind, currency: currency))</a></dd>\
            <dd class="remark">\(remark)</dd>\(lack)\(change ?? .empty)</div>

            """
    }

    /// `All, in USD`, or the one currency of several that is shown.
    func words(of currency: String) -> String {
        if choice.figures.scope.reporting != nil { return "All, in \(currency)" }
        let count = choice.figures.scope.currencies.count + (choice.figures.scope.others["currency"] ?? 0)
        return count > 1 ? "\(currency) purchases only, 1 of \(count) currencies" : currency
    }

    /// Whether Apple's notification history no longer had a part of these months.
    private func hasGap(in months: ClosedRange<Int>) -> Bool {
        let gaps = choice.figures[.named("gaps")]
        guard !gaps.isEmpty else { return false }
        let (stream, first, last) = (gaps.place(of: "stream"), gaps.place(of: "first"), gaps.place(of: "last"))
        return gaps.rows.contains { row in
            guard row[stream] == "notificationHistory", let first = row[first].flatMap(CalendarDay.init),
                let last = row[last].flatMap(CalendarDay.init)
            else { return false }
            return first.monthNumber <= months.upperBound && last.monthNumber >= months.lowerBound
        }
    }

    private static func month(_ number: Int) -> String {
        FigureText.words(CalendarDay(month: number).monthText, .month)
    }

    private static func span(_ months: ClosedRange<Int>) -> String {
        "\(month(months.lowerBound)) to \(month(months.upperBound))"
    }

    private var lastRun: HTML? {
        let table = choice.figures[.named("runs")]
        guard choice.figures.subjects.count == 1, let row = table.rows.first else { return nil }
        // The exit codes of `storeledger run`.
        let words =
            switch row[table.place(of: "exit_code")] {
            case "0": "Complete"
            case "2": "With losses"
            case "75": "Work left"
            case .some: "Failed"
            case nil: "Unfinished"
            }
        let started = FigureText.words(row[table.place(of: "started")], .moment)
        return """
            <div class="tile"><dt>Last run</dt><dd><a href="#card-runs">\(words)</a></dd><dd class="remark">\(started) UTC</dd></div>

            """
    }
}

/// A change with its sign, a colour, and a word.
struct FigureChange {
    let from: Double
    let to: Double
    let kind: FigureColumn.Kind
    let currency: String?
    let isGood: Bool
    /// With what the figure is compared.
    let than: String

    var html: HTML {
        let tone: HTML = from == to ? "same" : (to > from) == isGood ? "better" : "worse"
        return "<dd class=\"change \(tone)\">\(words) against \(than)</dd>"
    }

    private var words: String {
        switch kind {
        case .rate: FigureText.points(from: from, to: to)
        default: FigureText.change(from: from, to: to, earlier: FigureText.words(from, kind, currency: currency))
        }
    }
}
