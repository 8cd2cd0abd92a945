import AppStoreModel
import StrictJSON

/// A chart and the tables it is drawn from, or only tables.
struct ChartCard: ReportCard {
    let title: String
    /// What the card shows, and what it leaves out.
    let remark: String
    let chart: Chart?
    /// The chart draws the first table.
    let tables: [(question: ReportQuestion, caption: String)]
    /// Text in place of the chart and tables if all of them are empty.
    let nothing: String
    var isWide = false
    /// One line that depends on the first table, shown below the remark; `nil` for none.
    var note: @Sendable (FigureTable) -> String? = { _ in nil }

    var questions: [ReportQuestion] { tables.map(\.question) }

    func chartData(_ figures: ReportFigures, currencies: [String]) -> JSONValue? {
        guard let chart else { return nil }
        let panels = chart.panels(of: figures[tables[0].question], currencies: currencies)
        return panels.isEmpty ? nil : chart.json(panels, id: tables[0].question.name)
    }

    func html(_ figures: ReportFigures, currencies: [String]) -> HTML {
        let id = tables[0].question.name
        let filled = tables.filter { !figures[$0.question].isEmpty }
        guard !filled.isEmpty else {
            return card(id, title, remark, isWide: isWide, "<p class=\"empty\">\(nothing)</p>")
        }
        let note: HTML = note(figures[self.tables[0].question]).map { "<p class=\"remark\">\($0)</p>\n" } ?? .empty
        let tables: [HTML] = filled.map { question, caption in
            HTMLTable(id: "table-\(question.name)", caption: caption, figures: figures[question]).html
        }
        // Without a chart, the tables are always visible.
        guard let chart else { return card(id, title, remark, isWide: isWide, "\(note)\(tables)") }
        let panels = chart.panels(of: figures[self.tables[0].question], currencies: currencies)
        let summary = tables.count == 1 ? "Table" : "Tables"
        let content: HTML =
            "\(note)\(panels.first.map { canvas(id, $0) } ?? .empty)<details><summary>\(summary)</summary>\(tables)</details>"
        return card(id, title, remark, isWide: isWide, content)
    }

    private func canvas(_ id: String, _ panel: ChartPanel) -> HTML {
        let period = panel.step == "month" ? FigureColumn.Kind.month : .day
        let partial: HTML =
            panel.partial.map {
                """

                <p class="partial" id="partial-\(id)"><span class="swatch" aria-hidden="true"></span>\
                Lighter or dashed: \(FigureText.words($0, period)) is not over.</p>
                """
            } ?? .empty
        return """
            <div class="chart" id="box-\(id)">
            <canvas id="chart-\(id)" role="img" aria-label="\(panel.label)"></canvas></div>\(partial)
            <p class="empty" id="none-\(id)" hidden>Nothing in this currency and range.</p>

            """
    }
}
