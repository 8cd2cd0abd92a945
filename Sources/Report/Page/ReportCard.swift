import AppStoreModel
import StrictJSON

/// One card of the page: a heading, a remark, and the answers to one or more questions.
protocol ReportCard: Sendable {
    var questions: [ReportQuestion] { get }

    func html(_ figures: ReportFigures, currencies: [String]) -> HTML

    /// What the page's script draws in the card; `nil` for a card without a chart and for no figures.
    func chartData(_ figures: ReportFigures, currencies: [String]) -> JSONValue?
}

extension ReportCard {
    func chartData(_ figures: ReportFigures, currencies: [String]) -> JSONValue? { nil }

    /// The frame that all cards have in common.
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
