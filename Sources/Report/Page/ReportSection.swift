/// One card of the page: a heading, a sentence, a chart, and behind it the tables it was drawn from.
struct ReportSection: Sendable {
    let title: String
    /// What is shown, and what it is not.
    let remark: String
    let chart: Chart?
    /// The first is what the chart draws.
    let tables: [(question: ReportQuestion, caption: String)]
    /// In place of everything else when there is nothing.
    let nothing: String
    var isWide = false

    func html(_ figures: ReportFigures, currencies: [String]) -> HTML {
        let id = tables[0].question.name
        guard tables.contains(where: { !figures[$0.question].isEmpty }) else {
            return card(id, "<p class=\"empty\">\(nothing)</p>")
        }
        let panels = chart?.panels(of: figures[tables[0].question], currencies: currencies) ?? []
        let drawn: HTML =
            panels.first.map { first in
                """
                <div class="chart" id="box-\(id)">
                <canvas id="chart-\(id)" role="img" aria-label="\(first.label)"></canvas></div>
                <p class="empty" id="none-\(id)" hidden>Nothing in this currency.</p>
                """
            } ?? .empty
        let behind: [HTML] = tables.filter { !figures[$0.question].isEmpty }.map { question, caption in
            HTMLTable(id: "table-\(question.name)", caption: caption, figures: figures[question]).html
        }
        // Without a chart the table is what there is to see.
        guard chart != nil else { return card(id, "\(behind)") }
        let summary = behind.count == 1 ? "Table" : "Tables"
        return card(id, "\(drawn)<details><summary>\(summary)</summary>\(behind)</details>")
    }

    private func card(_ id: String, _ content: HTML) -> HTML {
        """
        <section class="card\(isWide ? " wide" : "")" aria-labelledby="title-\(id)">
        <h2 id="title-\(id)">\(title)</h2>
        <p class="remark">\(remark)</p>
        \(content)
        </section>

        """
    }
}
