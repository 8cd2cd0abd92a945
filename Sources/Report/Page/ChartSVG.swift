/// The chart of a page without a choice, for readers without JavaScript: the months of its table as bars and lines.
///
/// The script replaces it with one that has every choice, the name of each period, and its rows.
struct ChartSVG {
    let chart: ReportChart
    let currency: String?
    /// Months, the newest first.
    let rows: [DefaultChoice.Row]

    private static let (width, height, left, top, bottom) = (640.0, 220.0, 70.0, 22.0, 26.0)

    /// Empty for a chart that is not by month, or has nothing to draw.
    var html: HTML {
        guard let drawing = chart.drawing, chart.rows == ["period"], drawing.form != .heat, let newest = rows.first,
            let oldest = rows.last
        else { return .empty }
        let months = Array(rows.reversed())
        let columns = drawing.series.map { series in chart.columns.first { $0.name == series.column } }
        let values = zip(drawing.series, columns).map { series, column in
            months.map { month in (series.isBelow ? -1 : 1) * (column.flatMap(month.value) ?? 0) }
        }
        let bars = drawing.series.indices.filter { !drawing.series[$0].isLine }
        let lines = drawing.series.indices.filter { drawing.series[$0].isLine }
        let sums = months.indices.map { month in
            (
                up: bars.map { max(0, values[$0][month]) }.reduce(0, +),
                down: bars.map { min(0, values[$0][month]) }.reduce(0, +)
            )
        }
        let most = max(0, (sums.map(\.up) + lines.flatMap { values[$0] }).max() ?? 0)
        let least = min(0, (sums.map(\.down) + lines.flatMap { values[$0] }).min() ?? 0)
        guard most > least, let kind = columns.first??.kind else { return .empty }
        let step = (Self.width - Self.left - 8) / Double(months.count)
        func x(_ month: Int) -> Double { Self.left + step * (Double(month) + 0.5) }
        func y(_ value: Double) -> Double {
            Self.top + (Self.height - Self.top - Self.bottom) * (most - value) / (most - least)
        }
        var shapes: [HTML] = [0, most, least].filter { $0 == 0 || abs(y($0) - y(0)) > 14 }.map { value in
            let words = FigureText.words(value, kind, currency: currency)
            return """
                <path d="M\(number(Self.left)) \(number(y(value)))H\(number(Self.width - 8))" class="\(value == 0 ? "zero" : "grid")"/>\
                <text x="\(number(Self.left - 6))" y="\(number(y(value) + 4))" class="tick end">\(words)</text>
                """
        }
        for month in months.indices {
            var up = 0.0, down = 0.0
            for index in bars where values[index][month] != 0 {
                let from = values[index][month] > 0 ? up : down
                let to = from + values[index][month]
                if values[index][month] > 0 { up = to } else { down = to }
                shapes.append(
                    """
                    <rect x="\(number(x(month) - step * 0.36))" y="\(number(y(max(from, to))))" width="\(number(step * 0.72))" \
                    height="\(number(abs(y(from) - y(to))))" class="tone\(drawing.series[index].tone)"/>
                    """
                )
            }
        }
        for (month, row) in months.enumerated()
        where (row.sum("unrated") ?? 0) > 0 && columns.contains(where: isOfMoney) {
            shapes.append(
                "<text x=\"\(number(x(month)))\" y=\"\(number(Self.top - 4))\" class=\"tick middle\">*</text>"
            )
        }
        for index in lines {
            let points = months.indices.map { "\(number(x($0)).text) \(number(y(values[index][$0])).text)" }.joined(
                separator: "L"
            )
            shapes.append("<path d=\"M\(points)\" class=\"line tone\(drawing.series[index].tone)\"/>")
        }
        let ends: [HTML] = [(oldest, "start", Self.left), (newest, "end", Self.width - 8)].map { row, anchor, place in
            let words = FigureText.words(row.names[0], .month)
            return
                "<text x=\"\(number(place))\" y=\"\(number(Self.height - 8))\" class=\"tick \(.trusted(anchor))\">\(words)</text>"
        }
        let unit = kind == .money ? currency ?? "" : kind == .rate ? "percent" : ""
        return """
            <svg viewBox="0 0 640 220" width="100%" role="img" aria-label="Chart: \(chart.title). The table below has the figures.">\
            <text x="2" y="12" class="tick">\(unit)</text>\(shapes)\(ends)</svg>
            """
    }

    private func isOfMoney(_ column: FigureColumn?) -> Bool { column.map { !chart.money(in: $0).isEmpty } ?? false }

    /// With one digit after the point.
    private func number(_ value: Double) -> HTML {
        let tenths = Int((value * 10).rounded())
        return .trusted(tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))")
    }
}
