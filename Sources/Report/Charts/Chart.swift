import AppStoreModel
import StrictJSON

/// One chart: which columns of a table it draws, and how.
struct Chart: Sendable {
    enum Form: String, Sendable {
        /// Stacked bars, with lines across.
        case bars
        case lines
        /// Horizontal bars, one row for each name.
        case rows
    }

    struct Series: Sendable {
        let column: String
        /// Which colour and hatching of the palette, from 0.
        let tone: Int
        /// A line without a part of the stack.
        var isLine = false
        /// Drawn below the axis.
        var isLoss = false
    }

    let form: Form
    /// The column with the names along the axis.
    let axis: String
    let series: [Series]
    /// At most this many of the first rows.
    var limit = Int.max
    /// A second line below each name: `refunded of purchases` and the rate.
    var note: (part: String, whole: String)?
    /// The bars of one period add up to a whole, so the page shows their shares in percent.
    var hasShares = false
    /// Days can be added up: a long range is drawn by week, and a day without a row is zero.
    var isSum = false
    /// Periods that lie ahead are expected figures, so the present one is not marked as partial.
    var isForecast = false
    /// Drawn for the chosen currency only; otherwise for the first one when the chosen one has no figures.
    var followsCurrency = true
    /// What it shows, for people who cannot see it.
    let words: String
}

extension Chart {
    /// What it draws of a table.
    ///
    /// - Parameters:
    ///   - table: With the columns that it draws.
    ///   - currencies: In the order of the page; those of the table that are not among them follow.
    /// - Returns: A panel for each currency of a table of money, one for another table; none for an empty one.
    func panels(of table: FigureTable, currencies: [String]) -> [ChartPanel] {
        guard !table.isEmpty else { return [] }
        guard table.columns.contains(where: { $0.name == "currency" }) else {
            return [ChartPanel(currency: nil, chart: self, table: table)]
        }
        let own = Set(table.values("currency").compactMap(\.self))
        let order = currencies.filter(own.contains) + own.subtracting(currencies).sorted()
        return order.map { ChartPanel(currency: $0, chart: self, table: table.of(currency: $0)) }
    }

    /// What the page's script draws it from.
    ///
    /// - Parameters:
    ///   - panels: At least one.
    ///   - id: The name of its question.
    /// - Returns: An object.
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

    /// As the text of a `<script>` element: nothing in it can end the element or begin a comment.
    var inScript: HTML {
        .trusted(
            JSONWriter.text(self).replacing("<", with: "\\u003c").replacing(">", with: "\\u003e")
                .replacing("&", with: "\\u0026")
        )
    }
}
