import TestSupport
import Testing

@testable import Report

/// From where the report says that the states of subscriptions are known.
struct StateNoteTests {
    private func card(reported: [String]) throws -> String {
        let question = ReportQuestion.subscriptionStates
        let rows: [[String?]] = reported.map { ["plus.monthly", "1000", "0", "0", "200", "0", "0", $0, "1200"] }
        let table = FigureTable(columns: question.columns, rows: rows, asOf: "2026-11-22T04:05:06Z")
        let figures = ReportFigures(
            app: "com.example.game",
            environment: "Production",
            job: "nightly",
            readAt: "2026-11-22T04:10:00Z",
            daysBefore: (thirty: "2026-10-23", sixty: "2026-09-23"),
            viewsAsOf: "2026-11-22T04:05:06Z",
            tables: [question.name: table]
        )
        let card = try #require(ReportSection.subscriptions.cards.first { $0.questions.contains(question) })
        return card.html(figures, currencies: []).text
    }

    @Test func `the states say how many of them are Apple's own status, if any is`() throws {
        let text = try card(reported: ["1100", "7"])
        #expect(
            text.contains(
                """
                <p class="remark">1,107 of 2,400 states are the status that Apple answered (Get All Subscription Statuses, \
                not signed); the others follow from signed records.</p>
                """
            )
        )
        #expect(try !card(reported: ["0"]).contains("Get All Subscription Statuses"))
        #expect(try !card(reported: []).contains("Get All Subscription Statuses"))
    }
}
