import AppStoreModel

/// One chart: which columns of a table it draws, and how.
struct Chart: Sendable {
    enum Form: String, Sendable {
        /// One bar above the other, lines across.
        case bars
        case lines
        /// Bars that lie, one below the other.
        case rows
    }

    struct Series: Sendable {
        let column: String
        /// Which colour and hatching of the palette, from 0.
        let tone: Int
        var isLine = false
        /// Drawn below the axis.
        var isLoss = false
    }

    let id: String
    let form: Form
    /// The column with the names along the axis.
    let axis: String
    let series: [Series]
    /// At most this many of the first rows.
    var limit = Int.max
    /// A second line below each name: `refunded of purchases`.
    var note: (part: String, whole: String)?
    /// What it shows, for whoever cannot see it.
    let words: String
}

/// What one currency, or a chart without money, comes to.
struct ChartPanel: Sendable {
    let currency: String?
    let chart: Chart
    let table: FigureTable

    /// For a screen reader: what is drawn, and from when to when or how many.
    var label: String {
        let axis = table.columns[table.place(of: chart.axis)]
        let names = rows.map { FigureText.words($0[table.place(of: chart.axis)], axis.kind) }
        let span =
            switch axis.kind {
            case .month, .day: "\(names.first ?? "") to \(names.last ?? "")"
            default: "\(names.count) of \(table.rows.count)"
            }
        return "Chart: \(chart.words)\(currency.map { " in \($0)" } ?? ""), \(span). The table below has the figures."
    }

    /// In the order of the axis: what has a date comes from the ledger with the newest first.
    private var rows: [[String?]] {
        let kind = table.columns[table.place(of: chart.axis)].kind
        let isTimed = kind == .month || kind == .day || chart.axis == "run"
        let first = table.rows.prefix(chart.limit)
        return isTimed ? first.reversed() : Array(first)
    }

    var json: JSONValue {
        let axis = table.place(of: chart.axis)
        let kind = table.columns[axis].kind
        var members: [(String, JSONValue)] = [
            ("currency", currency.map(JSONValue.string) ?? .null),
            ("label", .string(shown(label))),
            ("labels", .array(rows.map { .string(shown(FigureText.words($0[axis], kind))) })),
            ("series", .array(chart.series.map(json))),
        ]
        if let note = chart.note {
            let (part, whole) = (table.place(of: note.part), table.place(of: note.whole))
            let notes = rows.map { row in
                JSONValue.string("\(FigureText.words(row[part], .count)) of \(FigureText.words(row[whole], .count))")
            }
            members.append(("notes", .array(notes)))
        }
        return .object(members)
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
            default: Int64(text).map { String(isLoss ? -$0 : $0) }
            }
        return number.map { .number(JSONNumber(text: $0)) } ?? .null
    }
}

extension Chart {
    /// What it draws of a table: for money a panel a currency, in the order of `currencies`, otherwise one; none for nothing.
    func panels(of table: FigureTable, currencies: [String]) -> [ChartPanel] {
        guard !table.isEmpty else { return [] }
        guard table.columns.contains(where: { $0.name == "currency" }) else {
            return [ChartPanel(currency: nil, chart: self, table: table)]
        }
        return currencies.compactMap { currency in
            let own = table.of(currency: currency)
            return own.isEmpty ? nil : ChartPanel(currency: currency, chart: self, table: own)
        }
    }

    func json(_ panels: [ChartPanel]) -> JSONValue {
        let kinds = panels.first.map { panel in
            series.map { panel.table.columns[panel.table.place(of: $0.column)].kind }
        }
        let unit = kinds?.first == .money ? "money" : kinds?.first == .rate ? "percent" : "count"
        return .object([
            ("id", .string(id)), ("form", .string(form.rawValue)), ("unit", .string(unit)),
            ("panels", .array(panels.map(\.json))),
        ])
    }
}

extension JSONValue {
    static func object(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(JSONObject(members.map { JSONObject.Member(key: $0.0, value: $0.1) }))
    }

    /// As the text of a `<script>` element: nothing in it can end the element or begin a comment.
    var inScript: HTML {
        .trusted(
            JSONWriter.text(self).replacing("<", with: "\\u003c").replacing(">", with: "\\u003e")
                .replacing("&", with: "\\u0026")
        )
    }
}
