import AppStoreModel
import StrictJSON

/// The part of a chart for one currency, or for figures without a currency.
struct ChartPanel: Sendable {
    let currency: String?
    let chart: Chart
    let table: FigureTable

    private var axis: FigureColumn { table.columns[table.place(of: chart.axis)] }

    /// `month` or `day` for a time axis.
    var step: String? {
        switch axis.kind {
        case .month: "month"
        case .day: "day"
        default: nil
        }
    }

    /// Text for a screen reader: the chart's content, the number of rows or the period, and what is partial.
    var label: String {
        let names = rows.map { FigureText.words($0[table.place(of: chart.axis)], axis.kind) }
        let span = step == nil ? "\(names.count) of \(table.rows.count)" : "\(names.first ?? "") to \(names.last ?? "")"
        let remark = partial.map { " \(FigureText.words($0, axis.kind)) is not over." } ?? ""
        return
            "Chart: \(chart.words)\(currency.map { " in \($0)" } ?? ""), \(span).\(remark) The table below has the figures."
    }

    /// The month or day on the axis that was not over when the figures were made.
    ///
    /// It is included even without a row, because the axis of a sum extends to it.
    var partial: String? {
        guard let step, !chart.isForecast, let asOf = table.asOf else { return nil }
        let period = String(asOf.prefix(step == "month" ? 7 : 10))
        let last = rows.last.flatMap { $0[table.place(of: chart.axis)] }
        return chart.isSum || last == period ? period : nil
    }

    /// In the order of the axis.
    ///
    /// Rows with a date come from the ledger with the newest first.
    private var rows: [[String?]] {
        let first = table.rows.prefix(chart.limit)
        return step != nil || chart.axis == "run" ? first.reversed() : Array(first)
    }

    var json: JSONValue {
        let place = table.place(of: chart.axis)
        var members: [(String, JSONValue)] = [
            ("currency", currency.map(JSONValue.string) ?? .null), ("whole", .bool(FigureText.isWhole(currency))),
            ("label", .string(shown(label))), ("partial", partial.map(JSONValue.string) ?? .null),
            // The script formats months and days itself, because it adds the periods without a row.
            (
                "labels",
                .array(
                    rows.map { row in
                        .string(step == nil ? shown(FigureText.words(row[place], axis.kind)) : row[place] ?? "")
                    }
                )
            ),
            ("series", .array(chart.series.map(json))),
        ]
        if let note = chart.note {
            let (part, whole) = (table.place(of: note.part), table.place(of: note.whole))
            members.append(
                ("notes", .array(rows.map { .string(Self.note(part: $0[part], whole: $0[whole])) }))
            )
        }
        return .object(members)
    }

    /// A note such as `12 of 345 (3.5%)`.
    private static func note(part: String?, whole: String?) -> String {
        let share = FigureText.share(part, of: whole).map { " (\($0))" } ?? ""
        return "\(FigureText.words(part, .count)) of \(FigureText.words(whole, .count))\(share)"
    }

    private func json(_ series: Chart.Series) -> JSONValue {
        let place = table.place(of: series.column)
        let column = table.columns[place]
        return .object([
            ("name", .string(column.title)), ("tone", .number(JSONNumber(text: "\(series.tone)"))),
            ("line", .bool(series.isLine)),
            ("values", .array(rows.map { value($0[place], column.kind, isLoss: series.isLoss) })),
        ])
    }

    private func value(_ text: String?, _ kind: FigureColumn.Kind, isLoss: Bool) -> JSONValue {
        guard let text else { return .null }
        let number: String? =
            switch kind {
            case .money: Int64(text).map { FigureText.plainMoney(isLoss ? -$0 : $0) }
            case .rate: FigureText.plainRate(text)
            case .ratio: FigureText.plainRatio(text)
            default: Int64(text).map { String(isLoss ? -$0 : $0) }
            }
        return number.map { .number(JSONNumber(text: $0)) } ?? .null
    }
}
