/// An HTML table with a caption and headings that have a scope.
///
/// The script of the page writes the same table for another choice.
struct FigureTableHTML {
    let chart: ReportChart
    let choice: DefaultChoice

    private let rows: [DefaultChoice.Row]

    init(chart: ReportChart, choice: DefaultChoice) {
        (self.chart, self.choice) = (chart, choice)
        rows = choice.rows(of: chart)
    }

    var isEmpty: Bool { rows.isEmpty }

    /// The same figures as a chart.
    var chartHTML: HTML { ChartSVG(chart: chart, currency: choice.currency(of: chart), rows: rows).html }

    var html: HTML {
        if chart.drawing?.form == .heat { return HeatTableHTML(chart: chart, choice: choice).html }
        return chart.isPlain ? plain : summed
    }

    private var caption: String {
        let currency = choice.currency(of: chart).map { ", in \($0)" } ?? ""
        let source = ReportChart.named(chart.source)
        guard source.time != nil else { return chart.title + currency }
        let months = choice.months(of: chart), (first, last) = (months.lowerBound, months.upperBound)
        let span = [first, last].map { FigureText.words(CalendarDay(month: $0).monthText, .month) }.joined(
            separator: " to "
        )
        let step = chart.rows == ["period"] && !chart.title.contains("month") ? " by month" : ""
        return "\(chart.title)\(step), \(span)\(currency)"
    }

    private var summed: HTML {
        let columns = chart.columns.filter { column in
            column.isShown && column.kind.isNumber
                && (!column.isOptional
                    || rows.contains { $0.value(column) != 0 || choice.coverage(column, of: $0, chart) == .none })
        }
        let currency = choice.currency(of: chart), months = choice.months(of: chart)
        let missing = choice.missingRates(of: chart, by: chart.rows, in: months)
        let body: [HTML] = rows.map { row in
            let names: [HTML] = zip(chart.rows, row.names).enumerated().map { index, name in
                let shown = element(name.0, name.1)
                return index == 0 ? "<th scope=\"row\">\(shown)</th>" : "<td>\(shown)</td>"
            }
            let cells: [HTML] = columns.map { column in
                let value = row.value(column)
                let whole = column.whole.flatMap { name in chart.columns.first { $0.name == name } }
                // What came and went in a year is no part of what was there at its beginning.
                let isPart = whole.map { $0.total != .first || chart.rows == ["period"] || months.count == 1 } ?? false
                let coverage = choice.coverage(column, of: row, chart)
                let share = isPart && coverage != .none ? FigureText.share(value, of: whole.flatMap(row.value)) : nil
                let words = coverage == .none ? "no rate" : FigureText.words(value, column.kind, currency: currency)
                return "<td class=\"number\">\(words)\(Self.remark(share))</td>"
            }
            return "<tr>\(names)\(cells)\(Self.lack(missing, of: row.names))</tr>\n"
        }
        let heads: [HTML] =
            chart.rows.map { "<th scope=\"col\">\(chart.heading(of: $0))</th>" }
            + columns.map { "<th scope=\"col\" class=\"number\">\($0.title)</th>" }
            + (missing.isEmpty ? [] : [Self.lackHeading])
        return table(heads, body)
    }

    /// A last column that is only there if an amount has no rate.
    static let lackHeading: HTML = "<th scope=\"col\" class=\"lacks\">Without a rate</th>"

    static func lack(_ missing: [[String?]: MissingRate], of names: [String?]) -> HTML {
        missing.isEmpty ? .empty : "<td class=\"lacks\">\(missing[names]?.brief ?? "")</td>"
    }

    private func table(_ heads: [HTML], _ body: [HTML]) -> HTML {
        """
        <table id="table-\(.trusted(chart.id))"><caption>\(caption)</caption>
        <thead><tr>\(heads)</tr></thead>
        <tbody>
        \(body)</tbody></table>
        """
    }

    private static func remark(_ share: String?) -> HTML {
        share.map { " <span class=\"share\">\($0)</span>" } ?? .empty
    }

    private func element(_ column: String, _ value: String?) -> HTML {
        if column == "period" || chart.kind(of: column) == .month {
            let month = value.map { String($0.prefix(7)) }
            let isPartial =
                column == "period"
                && month.flatMap(CalendarDay.init).map { $0.monthNumber > choice.lastMonthOver } ?? false
            let words = FigureText.words(month, .month)
            return
                "<time datetime=\"\(month ?? "")\">\(words)</time>\(isPartial ? " <span class=\"partial\">so far</span>" : .empty)"
        }
        if ReportChart.segments.contains(column) {
            return "<bdi>\(choice.figures.scope.title(column, value.flatMap { Int($0) } ?? -1))</bdi>"
        }
        return "<bdi>\(value ?? "not told")</bdi>"
    }

    /// As PostgreSQL has answered.
    private var plain: HTML {
        let figures = choice.figures[chart]
        let isShared = figures.columns.first == "app_id"
        let columns = (isShared ? [FigureColumn(name: "app_id", title: "App", kind: .text)] : []) + chart.columns
        let body: [HTML] = figures.rows.map { row in
            let cells: [HTML] = columns.indices.map { place in
                let column = columns[place]
                let whole = column.whole.flatMap { row[figures.place(of: $0)] }.flatMap { Double($0) }
                let share = column.whole == nil ? nil : FigureText.share(row[place].flatMap { Double($0) }, of: whole)
                let words: HTML =
                    switch (column.kind, row[place]) {
                    case (.month, let value?), (.day, let value?), (.moment, let value?):
                        "<time datetime=\"\(value)\">\(FigureText.words(value, column.kind))</time>"
                    case (.text, let value): "<bdi>\(value ?? "not told")</bdi>"
                    default: "\(FigureText.words(row[place], column.kind))"
                    }
                let alignment: HTML = column.kind.isNumber ? " class=\"number\"" : ""
                return place == 0
                    ? "<th scope=\"row\"\(alignment)>\(words)</th>"
                    : "<td\(alignment)>\(words)\(Self.remark(share))</td>"
            }
            return "<tr>\(cells)</tr>\n"
        }
        return table(
            columns.map { "<th scope=\"col\"\($0.kind.isNumber ? " class=\"number\"" : .empty)>\($0.title)</th>" },
            body
        )
    }
}

extension ReportChart {
    /// The heading of a column of names.
    func heading(of name: String) -> String {
        if name == "period" { return "Month" }
        return ReportChart.named(source).columns.first { $0.name == name }?.title ?? name
    }

    func kind(of name: String) -> FigureColumn.Kind? {
        ReportChart.named(source).columns.first { $0.name == name }?.kind
    }
}

/// A heat map: every cell shows its figure, and the colour repeats it.
///
/// One row for each cohort, one column for each month after the first.
private struct HeatTableHTML {
    let chart: ReportChart
    let choice: DefaultChoice

    var html: HTML {
        guard let column = chart.columns.first(where: { $0.name == chart.drawing?.series.first?.column }) else {
            return .empty
        }
        let heat = Heat(chart: chart, column: column, choice: choice)
        let currency = choice.currency(of: chart)
        let missing = choice.missingRates(of: chart, by: [chart.rows[0]], in: choice.months)
        let heads: [HTML] = (0..<heat.width).map { "<th scope=\"col\" class=\"number\">\($0)</th>" }
        let rows: [HTML] = heat.cohorts.map { cohort in
            let cells: [HTML] = (0..<heat.width).map { number in
                guard let value = cohort.values[number] else { return "<td></td>" }
                let words =
                    column.kind == .rate
                    ? FigureText.wholePercent(value) : FigureText.words(value, .money, currency: currency)
                return "<td class=\"heat heat\(heat.step(value))\">\(words)</td>"
            }
            return """
                <tr><th scope="row"><time datetime="\(cohort.month)">\(FigureText.words(cohort.month, .month))</time></th>\
                <td class="number">\(FigureText.words(cohort.size, .count))</td>\(cells)\(FigureTableHTML.lack(missing, of: [cohort.month]))</tr>

                """
        }
        let unit = column.kind == .rate ? "in percent" : currency.map { "in \($0)" } ?? ""
        let size = chart.columns.first { $0.total == .first }?.title ?? ""
        return """
            <table id="table-\(.trusted(chart.id))" class="cohorts"><caption>\(column.title) \(unit), by months after the first; \
            month 0 is the cohort’s own</caption>
            <thead><tr><th scope="col">\(chart.heading(of: chart.rows[0]))</th><th scope="col" class="number">\(size)</th>\(heads)\
            \(missing.isEmpty ? .empty : FigureTableHTML.lackHeading)</tr></thead>
            <tbody>
            \(rows)</tbody></table>
            """
    }
}

/// The cells of a heat map.
struct Heat {
    struct Cohort {
        let month: String
        var size: Double = 0
        /// By the number of months after the first.
        var values: [Int: Double] = [:]
    }

    private(set) var cohorts: [Cohort] = []
    /// The largest value of all; the colours of amounts are relative to it.
    private var most = 0.0
    private let isShare: Bool

    init(chart: ReportChart, column: FigureColumn, choice: DefaultChoice) {
        isShare = column.kind == .rate
        let source = ReportChart.named(chart.source)
        let soFar = source.measures.filter { $0.total == .soFar }.map(\.name)
        let size = source.measures.first { $0.total == .first }
        var rows: [String: [Int: DefaultChoice.Row]] = [:]
        for row in choice.sums(of: chart, by: [chart.rows[0], "month_number"], in: choice.months) {
            guard let cohort = row.names[0], let number = row.names[1].flatMap({ Int($0) }) else { continue }
            rows[cohort, default: [:]][number] = row
        }
        for (month, cells) in rows.sorted(by: { $0.key > $1.key }) {
            var cohort = Cohort(month: month)
            var sums: [String: Double] = [:]
            for (number, row) in cells.sorted(by: { $0.key < $1.key }) {
                // As many as the value is divided by.
                if number == 0, let size { cohort.size = (row.sum(size.name) ?? 0) - (row.sum(size.lack) ?? 0) }
                for name in soFar { sums[name, default: 0] += row.sum(name) ?? 0 }
                cohort.values[number] = column.formula?.value { name in
                    sums[name] ?? row.sum(name).map { $0 - (row.sum(name + "_unrated") ?? 0) }
                }
            }
            // A cohort that only paid in currencies without a rate has no value.
            if cohort.values.isEmpty { continue }
            most = max(most, cohort.values.values.max() ?? 0)
            cohorts.append(cohort)
        }
    }

    var width: Int { (cohorts.flatMap(\.values.keys).max() ?? 0) + 1 }

    /// The colour step, from 0 to 10.
    func step(_ value: Double) -> Int {
        let whole = isShare ? 1 : most
        return whole > 0 ? max(0, min(10, Int(value / whole * 10))) : 0
    }
}
