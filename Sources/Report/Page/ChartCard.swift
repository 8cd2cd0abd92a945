/// One chart of the page: a heading, the definition, the chart, and its table.
///
/// The script of the page fills the chart, and the table again after each choice.
struct ChartCard {
    let chart: ReportChart
    let choice: DefaultChoice

    private var id: HTML { .trusted(chart.id) }

    var html: HTML {
        let links: [HTML] = chart.next.enumerated().map { place, id in
            "\(place == 0 ? " " : ", ")<a href=\"#card-\(id)\">\(ReportChart.named(id).title)</a>"
        }
        let see: HTML = links.isEmpty ? .empty : " See\(links)."
        let note: HTML =
            chart.remark.isEmpty && links.isEmpty ? .empty : "<p class=\"remark\">\(chart.remark)\(see)</p>\n"
        return """
            <section class="card\(chart.isWide ? " wide" : "")" id="card-\(id)" aria-labelledby="title-\(id)">
            <h3 id="title-\(id)" tabindex="-1">\(chart.title)</h3>
            <p class="remark">\(chart.meaning) <a href="#definition-\(id)">Definition<span class="unseen"> of \(chart.title)</span></a></p>
            \(note)\(content)
            </section>

            """
    }

    /// The currency, the period, and what has no rate.
    private var scopeWords: String {
        let months = choice.months(of: chart)
        let span = [months.lowerBound, months.upperBound].map {
            FigureText.words(CalendarDay(month: $0).monthText, .month)
        }
        return [
            choice.currency(of: chart).map(KeyFigures(choice: choice).words),
            ReportChart.named(chart.source).time.map { _ in span.joined(separator: " to ") },
            choice.missingRate(of: chart, in: months)?.sentence,
        ].compactMap(\.self).joined(separator: "; ")
    }

    private var content: HTML {
        let table = FigureTableHTML(chart: chart, choice: choice)
        let hidden: HTML = table.isEmpty ? " hidden" : .empty
        let nothing: HTML =
            "<p class=\"empty\" id=\"none-\(id)\"\(table.isEmpty ? .empty : " hidden")>\(chart.nothing)</p>"
        // The script shows what another choice has, so the place of the table stays, also if it is empty.
        if chart.isPlain && table.isEmpty { return nothing }
        let frame: HTML = """
            <div class="scroll" id="table-\(id)-box" tabindex="0" role="region" aria-label="\(chart.title)">\(table.html)</div>
            """
        // Without a chart, the table is always visible.
        let scope: HTML = chart.isPlain ? .empty : "<p class=\"scope\" id=\"scope-\(id)\"\(hidden)>\(scopeWords)</p>\n"
        guard let drawing = chart.drawing, drawing.form != .heat else { return "\(scope)\(nothing)\(frame)" }
        return """
            \(scope)\
            <div class="chart" id="chart-\(id)">\(table.chartHTML)</div>
            <p class="readout" id="readout-\(id)" aria-hidden="true"></p>
            \(nothing)<details id="details-\(id)"\(hidden)><summary>Table<span class="unseen"> of \(chart.title)</span></summary>\(frame)</details>
            """
    }
}

/// A group of charts under one heading of the page.
struct SectionHTML {
    let id: String
    let title: String
    let choice: DefaultChoice

    var charts: [ReportChart] { ReportChart.all.filter { $0.section == id } }

    /// The campaigns are left out while there are none.
    var isShown: Bool { id != "campaigns" || charts.contains { !choice.figures[$0].isEmpty } }

    var html: HTML {
        let cards: [HTML] = charts.map { ChartCard(chart: $0, choice: choice).html }
        return """
            <section class="group" id="\(id)" aria-labelledby="heading-\(id)">
            <h2 id="heading-\(id)" tabindex="-1">\(title)</h2>
            <div class="cards">
            \(cards)</div>
            </section>

            """
    }
}
