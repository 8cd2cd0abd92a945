import AppStoreModel
import StrictJSON

/// One chart: the columns of a table that it draws, and their appearance.
struct Chart: Sendable {
    enum Form: String, Sendable {
        /// Stacked bars with overlaid lines.
        case bars
        case lines
        /// Horizontal bars, one row for each name.
        case rows
    }

    struct Series: Sendable {
        let column: String
        /// The index of the colour and hatching in the palette, from 0.
        let tone: Int
        /// Whether the series is a line and not part of the stack.
        var isLine = false
        /// Whether the series is drawn below the axis.
        var isLoss = false
    }

    let form: Form
    /// The column with the names along the axis.
    let axis: String
    let series: [Series]
    /// The maximum number of rows; the first ones are drawn.
    var limit = Int.max
    /// A second line below each name: `refunded of purchases` and the rate.
    var note: (part: String, whole: String)?
    /// Whether the bars of one period add up to a whole, so that the page shows their shares in percent.
    var hasShares = false
    /// Whether days can be added up.
    ///
    /// If so, a long range is drawn by week, and a day without a row counts as zero.
    var isSum = false
    /// Whether future periods are expected figures, so that the current one is not marked as partial.
    var isForecast = false
    /// Whether to draw only the chosen currency, or the first one if the chosen one has no figures.
    var followsCurrency = true
    /// A text alternative for people who cannot see the chart.
    let words: String
}

extension Chart {
    /// The panels that show a table.
    ///
    /// - Parameters:
    ///   - table: A table with the chart's columns.
    ///   - currencies: In the order of the page. Other currencies of the table follow.
    /// - Returns: A panel for each currency of a table of money, one panel for another table, and none for
    ///   an empty table.
    func panels(of table: FigureTable, currencies: [String]) -> [ChartPanel] {
        guard !table.isEmpty else { return [] }
        guard table.columns.contains(where: { $0.name == "currency" }) else {
            return [ChartPanel(currency: nil, chart: self, table: table)]
        }
        let own = Set(table.values("currency").compactMap(\.self))
        let order = currencies.filter(own.contains) + own.subtracting(currencies).sorted()
        return order.map { ChartPanel(currency: $0, chart: self, table: table.of(currency: $0)) }
    }

    /// The chart's data for the page's script.
    ///
    /// - Parameters:
    ///   - panels: At least one panel.
    ///   - id: The name of the chart's question.
    /// - Returns: A JSON object.
    func json(_ panels: [ChartPanel], id: String) -> JSONValue {
        let kinds = panels.first.map { panel in
            series.map { panel.table.columns[panel.table.place(of: $0.column)].kind }
        }
        let unit =
            switch kinds?.first {
            case .money?: "money"
            case .rate?: "percent"
            case .ratio?: "ratio"
            default: "count"
            }
        return .object([
            ("id", .string(id)), ("form", .string(form.rawValue)), ("unit", .string(unit)),
            ("step", panels.first?.step.map(JSONValue.string) ?? .null), ("sum", .bool(isSum)),
            ("shares", .bool(hasShares)), ("follows", .bool(followsCurrency)),
            ("panels", .array(panels.map(\.json))),
        ])
    }
}

extension JSONValue {
    static func object(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(JSONObject(members.map { JSONObject.Member(key: $0.0, value: $0.1) }))
    }

    /// The text of a `<script>` element.
    ///
    /// It contains nothing that could end the element or start a comment.
    var inScript: HTML {
        .trusted(
            JSONWriter.text(self).replacing("<", with: "\\u003c").replacing(">", with: "\\u003e")
                .replacing("&", with: "\\u0026")
        )
    }
}
