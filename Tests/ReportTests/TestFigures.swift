@testable import Report

/// Figures of a ledger on 22 November 2026, at 04:05, with rates or without.
func testFigures(
    _ tables: [String: [[String?]]],
    currencies: [String] = ["EUR", "USD"],
    reporting: String? = nil
) -> ReportFigures {
    var scope = ReportScope(daysFrom: CalendarDay(2026, 8, 1))
    scope.apps = ["com.example.game"]
    scope.products = ["plus.monthly", "coins"]
    scope.storefronts = ["DEU", "USA"]
    scope.countries = ["DEU": "Germany"]
    scope.currencies = currencies
    scope.reporting = reporting
    var figures = ReportFigures(
        subjects: [ReportSubject(bundleId: "com.example.game", environment: "Production", job: "nightly")],
        readAt: "2026-11-22T04:10:00Z",
        viewsAsOf: "2026-11-22T04:05:06Z",
        scope: scope
    )
    for (id, rows) in tables {
        let chart = ReportChart.named(id)
        let columns = chart.isPlain ? chart.columns.map(\.name) : chart.answer(hasApps: false)
        // What has no rate stands at the end of a row, and a test that has none leaves it out.
        let whole = rows.map { $0 + [String?](repeating: nil, count: columns.count - $0.count) }
        figures.tables[id] = FigureTable(columns: columns, rows: whole, asOf: "2026-11-22T04:05:06Z")
    }
    return figures
}

/// A row of `sales`: the product's, storefront's and currency's place, the day, and new revenue, in thousandths, or millionths if it is
/// converted.
func sale(_ day: String, _ amount: String, storefront: String = "1", currency: String = "1", converted: String? = nil)
    -> [String?]
{
    ["1", storefront, currency, day, "1", "0", nil, nil, amount, converted, nil, nil, nil, nil]
}

/// The same without a rate.
func unrated(_ day: String, _ amount: String, storefront: String = "1", currency: String = "2") -> [String?] {
    sale(day, amount, storefront: storefront, currency: currency) + ["1", nil, nil, amount, nil, nil, "1"]
}
