/// What the page shows before a reader chooses anything: every app, product and storefront in one currency, the last twelve months that
/// are over, and the present one, by month.
///
/// The script of the page shows the same until a choice is made.
struct DefaultChoice: Sendable {
    let figures: ReportFigures

    /// One row of a table.
    struct Row {
        /// The names, as places of segments or as text.
        let names: [String?]
        fileprivate var sums: [String: Double] = [:]

        /// The sum of a column of the SQL.
        func sum(_ name: String) -> Double? { sums[name] }

        /// The value of a column; `nil` if it is unknown.
        ///
        /// A converted amount is divided by the count of what has a rate.
        func value(_ column: FigureColumn) -> Double? {
            guard let formula = column.formula else { return sums[column.name] }
            guard column.kind == .money, !formula.divisor.isEmpty else { return formula.value { sums[$0] } }
            return formula.value { name in sums[name].map { $0 - (sums[name + "_unrated"] ?? 0) } }
        }
    }

    /// The months, counted from the year 0: twelve that are over, and the present one.
    var months: ClosedRange<Int> { lastMonthOver - 11...figures.newestDay.monthNumber }

    /// The months that are over.
    var monthsOver: ClosedRange<Int> { months.lowerBound...lastMonthOver }

    /// The last month that was over when the views were refreshed.
    var lastMonthOver: Int {
        let newest = figures.newestDay
        return figures.isNewestDayOver && newest.tomorrow.day == 1 ? newest.monthNumber : newest.monthNumber - 1
    }

    /// The currency of a chart's amounts; `nil` for a chart without amounts.
    func currency(of chart: ReportChart) -> String? { chart.hasMoney ? figures.scope.amounts : nil }

    /// The months of a chart.
    ///
    /// They are the months of the key figures; a chart over time also shows the present month.
    func months(of chart: ReportChart) -> ClosedRange<Int> { chart.rows == ["period"] ? months : monthsOver }

    /// The rows of a chart's table: months with the newest first, others by their first series.
    ///
    /// The cells of a heat map are not rows.
    func rows(of chart: ReportChart) -> [Row] {
        if chart.isPlain {
            return figures[chart].rows.map { cells in Row(names: cells) }
        }
        let isByPeriod = chart.rows == ["period"]
        var rows = sums(of: chart, by: chart.rows, in: months(of: chart))
        if isByPeriod {
            // A month without figures has zeros, from the first one that has some.
            let known = Dictionary(rows.map { ($0.names[0] ?? "", $0) }) { first, _ in first }
            let all = months.reversed().map { CalendarDay(month: $0).monthText }
            rows = all.filter { $0 >= known.keys.min() ?? "~" }.map {
                known[$0] ?? Row(names: [$0], sums: zeros(of: chart))
            }
        } else if chart.rows.count > 1
            || ReportChart.named(chart.source).keys.contains(where: { $0.name == chart.rows[0] })
        {
            rows.sort { left, right in
                left.names.elementsEqual(right.names) ? false : Self.isOrdered(left.names, right.names)
            }
        } else {
            let first =
                chart.columns.first { $0.name == chart.drawing?.series.first?.column }
                ?? chart.columns.first { $0.kind.isNumber }
            func size(_ row: Row) -> Double { first.flatMap(row.value) ?? 0 }
            func place(_ row: Row) -> Int { row.names[0].flatMap { Int($0) } ?? 0 }
            rows.sort { (size($1), place($0)) < (size($0), place($1)) }
        }
        return rows
    }

    private func zeros(of chart: ReportChart) -> [String: Double] {
        Dictionary(uniqueKeysWithValues: ReportChart.named(chart.source).measures.map { ($0.name, 0) })
    }

    /// Numbers in their order, other text by its letters.
    private static func isOrdered(_ left: [String?], _ right: [String?]) -> Bool {
        for (one, other) in zip(left, right) where one != other {
            if let one = one.flatMap({ Int($0) }), let other = other.flatMap({ Int($0) }) { return one < other }
            return (one ?? "") < (other ?? "")
        }
        return false
    }

    /// One value over several months; `nil` if it is unknown.
    func total(_ column: String, of chart: ReportChart, in months: ClosedRange<Int>) -> Double? {
        guard let column = chart.columns.first(where: { $0.name == column }) else { return nil }
        return sums(of: chart, by: [], in: months).first?.value(column)
    }

    /// Whether the ledger's figures begin in this month or before.
    func reaches(_ month: Int, _ chart: ReportChart) -> Bool {
        let source = ReportChart.named(chart.source)
        guard let time = source.time else { return false }
        let end = CalendarDay(month: month + 1).text
        return figures[chart].values(time.name).contains { $0.map { $0 < end } ?? false }
    }

    /// The sums of a chart's figures.
    ///
    /// - Parameters:
    ///   - names: What the rows are; `period` is the month, and without names all is one row.
    ///   - months: The months that count, if the figures have a time.
    func sums(of chart: ReportChart, by names: [String], in months: ClosedRange<Int>) -> [Row] {
        let source = ReportChart.named(chart.source)
        let table = figures[chart]
        guard !table.isEmpty else { return [] }
        let time = source.time.map { table.place(of: $0.name) }
        let places = names.map { $0 == "period" ? time ?? 0 : table.place(of: $0) }
        let isPeriod = names.map { $0 == "period" }
        // Amounts in different currencies are never added up.
        let ownCurrency =
            chart.hasMoney && figures.scope.reporting == nil && source.segments.contains("currency")
            ? table.place(of: "currency") : nil
        let converts = figures.scope.reporting != nil
        // Converted amounts are millionths in the answer.
        var measures = source.measures.map { measure in
            let isConverted = measure.kind == .money && converts
            let place = table.place(of: measure.name + (isConverted ? "_converted" : ""))
            return (name: measure.name, total: measure.total, place: place, factor: isConverted ? 0.001 : 1)
        }
        if converts, source.isConvertible {
            measures += source.measures.map { ($0.lack, $0.total, table.place(of: $0.lack), 1) }
            measures.append(("unrated", source.unratedTotal, table.place(of: "unrated"), 1))
        }
        let isWhole = !isPeriod.contains(true)
        // Times are compared as text, which has their order.
        let span = CalendarDay(month: months.lowerBound).text..<CalendarDay(month: months.upperBound + 1).text
        var ends: [String: (first: String, last: String)] = [:]
        if let time {
            for row in table.rows {
                guard let text = row[time], span.contains(text) else { continue }
                let bucket = isWhole ? "" : String(text.prefix(7))
                let (first, last) = ends[bucket] ?? (text, text)
                ends[bucket] = (min(first, text), max(last, text))
            }
            // What has no row at the end of the range is nothing then.
            if isWhole, source.time?.kind == .month, let first = ends[""]?.first {
                ends[""] = (first, CalendarDay(month: min(months.upperBound, figures.newestDay.monthNumber)).text)
            }
        }
        var rows: [[String?]: Row] = [:]
        for cells in table.rows {
            if let ownCurrency, cells[ownCurrency] != "1" { continue }
            var key = places.map { cells[$0] }
            var bucket = ""
            if let time {
                guard let text = cells[time], span.contains(text) else { continue }
                if !isWhole { bucket = String(text.prefix(7)) }
                for place in key.indices where isPeriod[place] { key[place] = bucket }
            }
            var row = rows[key] ?? Row(names: key)
            for (name, total, place, factor) in measures {
                if let time {
                    if total == .first, cells[time] != ends[bucket]?.first { continue }
                    if total == .last, cells[time] != ends[bucket]?.last { continue }
                }
                if let number = cells[place].flatMap({ Double($0) }) { row.sums[name, default: 0] += number * factor }
            }
            rows[key] = row
        }
        // A sum of nothing is zero.
        let zeros = zeros(of: chart)
        return rows.values.map { row in
            var row = row
            row.sums.merge(zeros) { sum, _ in sum }
            return row
        }
    }
}
