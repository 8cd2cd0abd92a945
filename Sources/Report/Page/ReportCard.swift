import AppStoreModel
import StrictJSON

/// One card of the page: a heading, a remark, and the results of one or more questions.
protocol ReportCard: Sendable {
    var questions: [ReportQuestion] { get }

    func html(_ figures: ReportFigures, currencies: [String]) -> HTML

    /// The chart's data for the page's script; `nil` for a card without a chart or without figures.
    func chartData(_ figures: ReportFigures, currencies: [String]) -> JSONValue?
}

extension ReportCard {
    func chartData(_ figures: ReportFigures, currencies: [String]) -> JSONValue? { nil }

    /// The frame of every card.
    func card(_ id: String, _ title: String, _ remark: String, isWide: Bool, _ content: HTML) -> HTML {
        """
        <section class="card\(isWide ? " wide" : "")" aria-labelledby="title-\(id)">
        <h3 id="title-\(id)">\(title)</h3>
        <p class="remark">\(remark)</p>
        \(content)
        </section>

        """
    }
}
