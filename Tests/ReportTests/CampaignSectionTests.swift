import TestSupport
import Testing

@testable import Report

/// The section for price changes and migrations.
struct CampaignSectionTests {
    private func figures(_ tables: [(ReportQuestion, [[String?]])]) -> ReportFigures {
        let tables = tables.map { question, rows in
            (question.name, FigureTable(columns: question.columns, rows: rows, asOf: "2026-11-22T04:05:06Z"))
        }
        return ReportFigures(
            app: "com.example.game",
            environment: "Production",
            job: "nightly",
            readAt: "2026-11-22T04:10:00Z",
            daysBefore: (thirty: "2026-10-23", sixty: "2026-09-23"),
            viewsAsOf: "2026-11-22T04:05:06Z",
            tables: Dictionary(uniqueKeysWithValues: tables)
        )
    }

    @Test func `the section is there once a price was changed or a migration leaves something, and not before`() {
        let price: [String?] = [
            "84dfa480ca92", "campaign", "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z", "250", "240", "240", "200",
            "180", "30", "12", "30", "0.1250",
        ]
        let rest: [String?] = ["plus.monthly", "sorted out", "pending_change", "7", "5", "2026-11-02T00:00:00Z"]
        #expect(!ReportSection.campaigns.isShown(figures([])))
        #expect(ReportSection.campaigns.isShown(figures([(.unmigratedSubscriptions, [rest])])))
        let both = figures([(.priceChanges, [price]), (.unmigratedSubscriptions, [rest])])
        #expect(ReportSection.campaigns.isShown(both))
        let page = ReportSection.campaigns.html(both, currencies: []).text
        #expect(page.contains("<td class=\"number\">30 <span class=\"share\">12.5%</span></td>"))
        #expect(page.contains("<td class=\"number\">12.50%</td>") && page.contains("pending_change"))
        // Every other section is always there.
        #expect(ReportSection.all.filter { !$0.isShown(figures([])) }.map(\.id) == ["campaigns"])
    }
}
