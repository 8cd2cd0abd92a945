/// How a chart is drawn.
struct ReportDrawing: Sendable, Equatable {
    enum Form: String, Sendable {
        /// Stacked bars with overlaid lines.
        case bars
        case lines
        /// Horizontal bars, one for each row of the table.
        case rows
        /// A table whose cells are coloured by their figures.
        case heat
    }

    struct Series: Sendable, Equatable {
        let column: String
        /// The index of the colour and hatching in the palette, from 0.
        var tone = 0
        /// Whether the series is a line and not part of the stack.
        var isLine = false
        /// Whether the series is drawn below the axis.
        var isBelow = false
        /// Whether the series is drawn in a separate chart above the others.
        ///
        /// On one axis, its high values would flatten them.
        var isApart = false
    }

    let form: Form
    /// The first one is compared with an earlier time.
    let series: [Series]
    /// Whether the bars of one period add up to a whole, so that their shares are shown in percent.
    let hasShares: Bool
    /// A second line below each name of rows: `refunded` of `purchases`.
    let note: (part: String, whole: String)?

    /// - Parameters:
    ///   - words: The form, and the series: `net/6/line`.
    ///   - flags: Flags of the chart.
    ///   - note: Two names of columns, or none.
    /// - Returns: `nil` for words that mean nothing.
    init?(_ words: [String], flags: [String], note: [String]) {
        guard let form = words.first.flatMap(Form.init), words.count > 1 else { return nil }
        self.form = form
        var series: [Series] = []
        for word in words.dropFirst() {
            let parts = word.split(separator: "/").map(String.init)
            var one = Series(column: parts[0])
            for part in parts.dropFirst() {
                switch part {
                case "line": one.isLine = true
                case "below": one.isBelow = true
                case "apart": one.isApart = true
                default:
                    guard let tone = Int(part) else { return nil }
                    one.tone = tone
                }
            }
            if form == .lines { one.isLine = true }
            series.append(one)
        }
        self.series = series
        hasShares = flags.contains("shares")
        self.note = note.count == 2 ? (note[0], note[1]) : nil
    }

    static func == (left: Self, right: Self) -> Bool {
        left.form == right.form && left.series == right.series && left.hasShares == right.hasShares
            && left.note?.part == right.note?.part && left.note?.whole == right.note?.whole
    }
}
