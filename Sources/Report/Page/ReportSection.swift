/// A group of cards under one heading of the page.
struct ReportSection: Sendable {
    /// The section's anchor in the page's URL.
    let id: String
    let title: String
    let cards: [any ReportCard]
    /// Whether the page leaves the section out while none of its questions has an answer.
    var isOptional = false

    func isShown(_ figures: ReportFigures) -> Bool {
        !isOptional || cards.flatMap(\.questions).contains { !figures[$0].isEmpty }
    }

    func html(_ figures: ReportFigures, currencies: [String]) -> HTML {
        let cards: [HTML] = cards.map { $0.html(figures, currencies: currencies) }
        return """
            <section class="group" id="\(id)" aria-labelledby="heading-\(id)">
            <h2 id="heading-\(id)">\(title)</h2>
            <div class="cards">
            \(cards)</div>
            </section>

            """
    }
}

extension ReportSection {
    /// The page from top to bottom, with the most frequent questions first.
    static let all: [ReportSection] = [
        .sales, .recurring, .subscriptions, .trials, .retention, .refunds, .actions, .campaigns, .operations,
    ]
}
