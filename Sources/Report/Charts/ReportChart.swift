import Postgres

/// One chart or table of the report, as its file in `Sources/Report/SQL` has it.
///
/// The file is a question in SQL. The comment at its top has one `key: value` in each line:
///
///     -- title: Sales and refunds
///     -- section: sales
///     -- means: What customers paid, before Apple's commission and tax.
///     -- docs: metrics.md#how-a-refunds-amount-is-found
///     -- views: revenue_by_day
///     -- column: gross | money | Sales | new + renewal + one_time
///     -- draw: bars net/6/line gross/0 refunded/1/below
///
/// A column is `name | kind | title | formula`. The kind can be followed by `at start`, `at end` or `so far`, for a number that is not
/// added up over time, by `of NAME` for a part of a whole, and by `if any` for a column that is left out while it is zero. A file without SQL has the line `data`, the name of the
/// file whose figures it shows.
struct ReportChart: Sendable {
    /// The name of the file.
    let id: String
    let title: String
    let section: String
    /// The definition of the figures in one sentence.
    let meaning: String
    /// What else a reader must know.
    let remark: String
    /// The whole definition, for the end of the page; empty if the sentence says everything.
    let definition: String
    /// The charts that answer the next question.
    let next: [String]
    /// Where the documentation says more, from `docs/analysts`.
    let docs: String
    /// Text in place of the chart and table if there is nothing.
    let nothing: String
    /// The views that the SQL reads.
    let views: [String]
    let columns: [FigureColumn]
    /// What the rows of the table are: `period`, the name of a segment, or names of other columns.
    let rows: [String]
    let drawing: ReportDrawing?
    let isWide: Bool
    /// The file whose figures the chart shows.
    let source: String
    /// The SQL; empty if another file has it.
    let question: [UInt8]
    /// Whether the table is as PostgreSQL answers, and does not follow the filters.
    let isPlain: Bool

    /// Whether the amounts of the SQL are in the reporting currency already.
    let isConverted: Bool

    /// The segments by which figures can be filtered.
    static let segments = ["app_id", "product_id", "storefront", "currency"]

    /// - Throws: ``BadChart``.
    init(_ id: String, _ file: [UInt8]) throws(BadChart) {
        var values: [String: [String]] = [:]
        let lines = String(decoding: file, as: UTF8.self).split(separator: "\n")
        for line in lines.prefix(while: { $0.hasPrefix("--") }) {
            let parts = line.dropFirst(2).split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { throw BadChart(id: id, line: String(line)) }
            values[Self.trimmed(parts[0]), default: []].append(Self.trimmed(parts[1]))
        }
        func text(_ key: String) -> String { values[key]?.joined(separator: " ") ?? "" }
        func words(_ key: String) -> [String] { text(key).split(separator: " ").map(String.init) }
        self.id = id
        title = text("title")
        section = text("section")
        meaning = text("means")
        remark = text("note")
        definition = text("defines")
        next = words("see")
        docs = text("docs")
        nothing = values["nothing"].map { $0.joined(separator: " ") } ?? "Nothing in this range."
        views = words("views")
        var columns: [FigureColumn] = []
        for line in values["column"] ?? [] { columns.append(try Self.column(line, of: id)) }
        self.columns = columns
        rows = values["rows"] == nil ? ["period"] : words("rows")
        isWide = words("flags").contains("wide")
        isPlain = words("flags").contains("plain")
        isConverted = words("flags").contains("converted")
        source = values["data"]?.first ?? id
        question = values["data"] == nil ? file : []
        drawing = try values["draw"].map { lines throws(BadChart) in
            guard let drawing = ReportDrawing(words("draw"), flags: words("flags"), note: words("below")) else {
                throw BadChart(id: id, line: lines.joined(separator: " "))
            }
            return drawing
        }
    }

    private static func column(_ line: String, of id: String) throws(BadChart) -> FigureColumn {
        let parts = line.split(separator: "|", omittingEmptySubsequences: false).map(trimmed)
        var words = (parts.count > 1 ? parts[1] : "").split(separator: " ").map(String.init)
        guard (3...4).contains(parts.count), let kind = words.first.flatMap(FigureColumn.Kind.init) else {
            throw BadChart(id: id, line: line)
        }
        words.removeFirst()
        var column = FigureColumn(name: parts[0], title: parts[2], kind: kind)
        while words.count >= 2 {
            switch (words[0], words[1]) {
            case ("at", "start"): column.total = .first
            case ("at", "end"): column.total = .last
            case ("so", "far"): column.total = .soFar
            case ("if", "any"): column.isOptional = true
            case ("of", let whole): column.whole = whole
            default: throw BadChart(id: id, line: line)
            }
            words.removeFirst(2)
        }
        if parts.count == 4 {
            guard let formula = FigureFormula(parts[3][...]) else { throw BadChart(id: id, line: line) }
            column.formula = formula
        }
        return column
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    /// A file that is no chart is an internal error; a test reads each.
    struct BadChart: Error, Equatable {
        let id: String
        let line: String
    }
}

extension ReportChart {
    /// The time along which figures are summed: `day` or `month`; `nil` for figures of now.
    var time: FigureColumn? {
        columns.first.flatMap {
            ($0.kind == .day || $0.kind == .month) && !isPlain && $0.name == $0.kind.rawValue ? $0 : nil
        }
    }

    /// The columns of the SQL that name a segment.
    var segments: [String] { columns.map(\.name).filter(Self.segments.contains) }

    /// The other columns of the SQL that name something.
    var keys: [FigureColumn] {
        columns.filter { column in
            !column.kind.isNumber && !Self.segments.contains(column.name) && column != time
        }
    }

    /// The columns of the SQL that are added up.
    var measures: [FigureColumn] { columns.filter { $0.kind.isNumber && $0.formula == nil } }

    /// Whether the page converts its amounts.
    var isConvertible: Bool { !isConverted && measures.contains { $0.kind == .money } }

    /// How the numbers of what has no rate become one: as the amounts do.
    var unratedTotal: FigureColumn.Total {
        let totals = Set(measures.filter { $0.kind == .money }.map(\.total))
        return totals.count == 1 ? totals.first ?? .sum : .sum
    }

    /// The amounts that a column is, or follows from.
    func money(in column: FigureColumn) -> [FigureColumn] {
        let read = Set(column.formula?.columns ?? [column.name])
        return ReportChart.named(source).measures.filter { $0.kind == .money && read.contains($0.name) }
    }

    /// Whether it shows amounts.
    var hasMoney: Bool { columns.contains { $0.kind == .money && $0.isShown } }
}
