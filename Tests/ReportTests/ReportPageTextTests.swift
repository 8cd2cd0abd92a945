import Testing

@testable import Report

/// The figures at the top of the page.
struct KeyFigureTests {
    private func tiles(
        _ tables: [String: [[String?]]],
        currencies: [String] = ["EUR", "USD"],
        reporting: String? = nil
    ) -> String {
        KeyFigures(choice: DefaultChoice(figures: testFigures(tables, currencies: currencies, reporting: reporting)))
            .html.text
    }

    /// Sales from November 2024 on: 100.00 in each of twelve months, then 150.00 in each.
    private var sales: [[String?]] {
        (0...24).map { number in
            let month = CalendarDay(month: CalendarDay(2024, 11, 1).monthNumber + number)
            return sale(month.text, number < 12 ? "100000" : number < 24 ? "150000" : "999000", converted: "1000000")
        }
    }

    @Test func `sales are the sum of twelve months that are over, compared with the twelve before`() {
        let html = tiles(["sales": sales])
        #expect(html.contains(">1,800.00</a>"), "\(html)")
        #expect(html.contains("EUR purchases only, 1 of 2 currencies, Nov 2025 to Oct 2026"))
        #expect(html.contains("<dd class=\"change better\">+50.0% up against Nov 2024 to Oct 2025</dd>"))
        #expect(
            !tiles(["sales": Array(sales.dropFirst())]).contains("against"),
            "a part of the year before is no comparison"
        )
    }

    @Test func `with rates sales are all, in one currency, and without them those in other currencies are not added`() {
        let other = sale("2026-05-01", "7000", currency: "2", converted: "5000000")
        #expect(tiles(["sales": sales + [other]]).contains(">1,800.00</a>"))
        let html = tiles(["sales": sales + [other]], reporting: "USD")
        #expect(html.contains(">17.00</a>") && html.contains("All, in USD, Nov 2025 to Oct 2026"), "\(html)")
        #expect(tiles(["sales": sales], currencies: ["EUR"]).contains("<dd class=\"remark\">EUR, Nov 2025"))
    }

    @Test
    func
        `subscriptions are counted at the end of the last month that is over, and a worse rate has the word and the colour for it`()
    {
        let html = tiles([
            "active": [
                ["1", "2025-10-31", "10", "2"], ["1", "2026-10-30", "99", "0"], ["1", "2026-10-31", "12", "2"],
                ["1", "2026-11-22", "98", "7"],
            ],
            "refunds-by-month": [
                ["1", "1", "1", "2024-11-01", "100", "1", nil, nil, nil],
                ["1", "1", "1", "2025-12-01", "100", "3", nil, nil, nil],
            ],
        ])
        #expect(html.contains(">12</a></dd><dd class=\"remark\">at the end of Oct 2026</dd>"), "\(html)")
        #expect(html.contains("+20.0% up against the end of Oct 2025"))
        #expect(html.contains("<dd class=\"change same\">no change against the end of Oct 2025</dd>"))
        #expect(html.contains(">3.00%</a></dd><dd class=\"remark\">Nov 2025 to Oct 2026, 3 of 100</dd>"))
        #expect(html.contains("<dd class=\"change worse\">+2.00 points up against Nov 2024 to Oct 2025</dd>"))
    }

    @Test
    func `a figure that lacks a rate says how much, and is not compared, nor is one whose earlier range lacks one`() {
        let lacking = tiles(["sales": sales + [unrated("2026-05-01", "7000")]], reporting: "USD")
        #expect(
            lacking.contains(
                ">12.00</a></dd><dd class=\"remark\">All, in USD, Nov 2025 to Oct 2026</dd><dd class=\"remark lacks\">without USD: 1 of 13 purchases, 7.00 USD</dd>"
            ),
            "\(lacking)"
        )
        #expect(lacking.contains("no comparison: rates are missing") && !lacking.contains("against"))
        let earlier = tiles(["sales": sales + [unrated("2025-05-01", "7000")]], reporting: "USD")
        #expect(earlier.contains("no comparison: rates are missing") && !earlier.contains("lacks"), "\(earlier)")
        let before = tiles(["sales": sales + [unrated("2024-05-01", "7000")]], reporting: "USD")
        #expect(before.contains("no change against Nov 2024") && !before.contains("missing"), "\(before)")
    }

    @Test func `nothing but amounts without a rate is no amount`() {
        let html = tiles(["sales": [unrated("2026-05-01", "7000")]], reporting: "USD")
        #expect(html.contains(">no rate</a>") && !html.contains("0.00"), "\(html)")
    }

    @Test func `deliveries are not compared if a gap of notifications reaches into the months before`() {
        func isCompared(_ gaps: [[String?]]) -> Bool {
            let rows = ["2024-11-01", "2025-05-01", "2026-05-01"].map {
                [$0, "90", "0", "0", "0", "10", "0"] as [String?]
            }
            return tiles(["deliveries": rows, "gaps": gaps]).contains("against Nov 2024")
        }
        func gap(_ stream: String, _ first: String, _ last: String) -> [[String?]] {
            [[stream, "1", "\(first)T00:00:00Z", "\(last)T01:00:00Z"]]
        }
        #expect(isCompared([]))
        #expect(!isCompared(gap("notificationHistory", "2025-01-10", "2025-01-24")))
        #expect(!isCompared(gap("notificationHistory", "2025-10-23", "2026-01-10")))
        #expect(isCompared(gap("notificationHistory", "2025-11-10", "2025-12-23")))
        #expect(isCompared(gap("transactionHistory", "2025-01-10", "2025-01-24")))
    }
}

/// Tables of a page without a choice.
struct FigureTableTests {
    private func card(_ id: String, _ tables: [String: [[String?]]], reporting: String? = nil) -> String {
        ChartCard(chart: .named(id), choice: DefaultChoice(figures: testFigures(tables, reporting: reporting))).html
            .text
    }

    @Test func `months have their sums, the newest first, and one that is not over is marked`() {
        let html = card(
            "sales",
            ["sales": [sale("2026-09-01", "1000"), sale("2026-11-02", "2000"), sale("2026-11-03", "500")]]
        )
        let rows = html.split(separator: "<tr>").dropFirst(2)
        #expect(rows.count == 3)
        #expect(rows.first?.contains("Nov 2026</time> <span class=\"partial\">so far</span>") == true)
        #expect(rows.first?.contains("<td class=\"number\">2.50</td>") == true)
        #expect(
            rows.dropFirst().first?.contains("Oct 2026</time></th><td class=\"number\">0</td>") == true,
            "a month of nothing"
        )
        #expect(html.contains("Sales and refunds by month, Nov 2025 to Nov 2026, in EUR"))
    }

    @Test func `a count is next to its share, and segments are in the order of their size`() {
        let kinds = card(
            "revenue-kinds",
            ["sales": [["1", "1", "1", "2026-11-02", "1", "0", nil, nil, "750", nil, "250", nil, nil, nil]]]
        )
        #expect(kinds.contains("0.75 <span class=\"share\">75.0%</span>"), "\(kinds)")
        let products = card(
            "sales-by-product",
            [
                "sales": [
                    ["2", "1", "1", "2026-10-02", "1", "0", nil, nil, "9000", nil, nil, nil, nil, nil],
                    ["1", "1", "1", "2026-10-02", "1", "0", nil, nil, "100", nil, nil, nil, nil, nil],
                    ["0", "1", "1", "2026-10-02", "1", "0", nil, nil, "10", nil, nil, nil, nil, nil],
                ]
            ]
        )
        let names = products.matches(of: /<bdi>([^<]*)<\/bdi>/).map { String($0.1) }
        #expect(names == ["coins", "plus.monthly", "other"])
    }

    @Test
    func `a row without a rate has no amount, a row with a part of one says of which, and others are as they were`() {
        let rows = [
            sale("2026-09-02", "1000", converted: "1000000"), unrated("2026-09-02", "7000"),
            unrated("2026-09-02", "9000", storefront: "2"),
        ]
        let html = card("sales-by-country", ["sales": rows], reporting: "USD")
        #expect(
            html.contains(
                "<bdi>Germany</bdi></th><td class=\"number\">1.00</td><td class=\"number\">1.00</td><td class=\"number\">0.00</td><td class=\"number\">2</td><td class=\"lacks\">USD: 1 purchase</td>"
            ),
            "\(html)"
        )
        #expect(
            html.contains(
                "<bdi>USA</bdi></th><td class=\"number\">no rate</td><td class=\"number\">no rate</td><td class=\"number\">no rate</td><td class=\"number\">1</td><td class=\"lacks\">USD: 1 purchase</td>"
            )
        )
        #expect(html.contains("All, in USD; Nov 2025 to Oct 2026; without USD: 2 of 3 purchases, 16.00 USD</p>"))
        #expect(!card("sales-by-country", ["sales": [rows[0]]], reporting: "USD").contains("lacks"))
    }

    @Test func `a sum of converted amounts is rounded once`() {
        let rows = ["1", "2"].map { sale("2026-09-02", "1", storefront: $0, converted: "2500") }
        #expect(card("sales-by-product", ["sales": rows], reporting: "USD").contains("<td class=\"number\">0.01</td>"))
    }

    @Test func `an amount for each customer is divided by the customers whose currency has a rate`() {
        let rows: [[String?]] = [
            ["1", "2026-09-01", "10", "4", "8000", "8000000", nil, nil, nil, nil],
            ["2", "2026-09-01", "30", "6", "9000", nil, "30", "6", "9000", "1"],
        ]
        let html = card("average-revenue", ["average-revenue": rows], reporting: "USD")
        #expect(
            html.contains("<td class=\"number\">8.00</td><td class=\"number\">0.80</td><td class=\"number\">2.00</td>"),
            "\(html)"
        )
        let value: [[String?]] = [
            ["1", "2026-09", "0", "10", "50000", "50000000", nil, nil, nil],
            ["2", "2026-09", "0", "5", "70000", nil, "5", "70000", "1"],
            ["2", "2026-08", "0", "3", "70000", nil, "3", "70000", "1"],
        ]
        let cohorts = card("lifetime-value", ["lifetime-value": value], reporting: "USD")
        #expect(
            cohorts.contains("Sep 2026</time></th><td class=\"number\">10</td><td class=\"heat heat10\">5.00</td>"),
            "\(cohorts)"
        )
        #expect(!cohorts.contains("Aug 2026</time>"), "a cohort without a rate has no value")
    }

    @Test func `numbers at the beginning and the end of a range are not added up`() {
        let rows: [[String?]] = [
            ["1", "1", "2026-09-01", "10", "5", "0", "0", "1", "0", "14"],
            ["1", "1", "2026-10-01", "14", "2", "0", "0", "0", "0", "16"],
            ["1", "1", "2026-11-01", "16", "1", "0", "0", "3", "0", "14"],
        ]
        let html = card("movement-by-product", ["movement-by-month": rows])
        let cells = html.split(separator: "<tr>").last?.matches(of: /number">([^< ]*)/).map { String($0.1) } ?? []
        // Of the months that are over; what expired in several is no share of the beginning.
        #expect(cells == ["10", "7", "0", "0", "1", "0", "16", "1"])
        #expect(!html.contains("share"))
    }

    @Test func `a heat map divides sums of products, and adds up what a cohort has paid so far`() {
        let retention = card(
            "retention",
            [
                "retention": [
                    ["1", "2026-09", "0", "100", "80"], ["2", "2026-09", "0", "100", "100"],
                    ["1", "2026-09", "1", "100", "1"], ["2", "2026-09", "1", "100", "0"],
                ]
            ]
        )
        #expect(retention.contains("<td class=\"heat heat9\">90</td><td class=\"heat heat0\">1</td>"), "\(retention)")
        let value = card(
            "lifetime-value",
            [
                "lifetime-value": [
                    ["1", "2026-09", "0", "10", "50000", nil], ["1", "2026-09", "1", "10", "25000", nil],
                ]
            ]
        )
        #expect(value.contains("<td class=\"heat heat6\">5.00</td><td class=\"heat heat10\">7.50</td>"), "\(value)")
    }

    @Test func `campaigns are there once a price was changed or a migration leaves something, and not before`() {
        let price: [String?] = [
            "84dfa480ca92", "campaign", "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z", "250", "240", "240", "200",
            "180", "30", "12", "30", "0.1250",
        ]
        let rest: [String?] = ["plus.monthly", "sorted out", "pending_change", "7", "5", "2026-11-02T00:00:00Z"]
        func section(_ id: String, _ tables: [String: [[String?]]]) -> SectionHTML {
            SectionHTML(id: id, title: id, choice: DefaultChoice(figures: testFigures(tables)))
        }
        #expect(!section("campaigns", [:]).isShown)
        #expect(section("campaigns", ["unmigrated-subscriptions": [rest]]).isShown)
        let page = section("campaigns", ["price-changes": [price], "unmigrated-subscriptions": [rest]]).html.text
        #expect(page.contains("<td class=\"number\">30 <span class=\"share\">12.5%</span></td>"))
        #expect(page.contains("<td class=\"number\">12.50%</td>") && page.contains("pending_change"))
        #expect(ReportChart.sections.filter { !section($0.id, [:]).isShown }.map(\.id) == ["campaigns"])
    }
}
