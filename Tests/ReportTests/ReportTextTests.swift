import AppStoreModel
import FoundationEssentials
import StrictJSON
import TestSupport
import Testing

@testable import Report

/// How figures and names become a page.
struct ReportTextTests {
    @Test(
        arguments: [
            (0, "USD", "0.00"), (9_990, "USD", "9.99"), (9_995, "USD", "9.995"), (-500, "USD", "−0.50"),
            (1_234_567_890, "EUR", "1,234,567.89"), (1_000_000, "JPY", "1,000"), (1_000_500, "JPY", "1,001"),
            (2_014_333_333, "VND", "2,014,333"), (-1_500, "KRW", "−2"), (-499, "JPY", "0"),
            (Int64.min, "USD", "−9,223,372,036,854,775.808"), (12_340, nil, "12.34"),
        ] as [(Int64, String?, String)]
    )
    func `money is exact, with two digits or as many as it needs, and whole in a currency without a smaller unit`(
        milliunits: Int64,
        currency: String?,
        words: String
    ) {
        #expect(FigureText.money(milliunits, currency: currency) == words)
    }

    @Test func `a headline is rounded to two digits`() {
        #expect(FigureText.headline(145_304, currency: "EUR") == "145.30")
        #expect(FigureText.headline(145_305, currency: "EUR") == "145.31")
        #expect(FigureText.headline(-145_305, currency: "EUR") == "−145.31")
        #expect(FigureText.headline(1_499, currency: "JPY") == "1")
    }

    @Test(
        arguments: [
            ("0", .count, "0"), ("1234567", .count, "1,234,567"), ("-1234", .count, "−1,234"), (nil, .count, "–"),
            ("0.0123", .rate, "1.23%"), ("1.0000", .rate, "100.00%"), ("0", .rate, "0.00%"),
            ("2026-11", .month, "Nov 2026"), ("2026-01-02", .day, "2 Jan 2026"),
            ("2026-11-22T04:05:06Z", .moment, "2026-11-22 04:05"), ("7500", .seconds, "2 h 5 min"),
            (nil, .text, "not told"), ("<b>", .text, "<b>"),
        ] as [(String?, FigureColumn.Kind, String)]
    )
    func `a figure reads as people write it`(value: String?, kind: FigureColumn.Kind, words: String) {
        #expect(FigureText.words(value, kind) == words)
    }

    @Test(
        arguments: [
            ("12", "345", "3.5%"), ("0", "7", "0.0%"), ("7", "7", "100.0%"), ("1", "3000", "0.0%"),
            ("1", "2000", "0.1%"),
            ("-3", "21", "−14.3%"), ("-1", "3000", "0.0%"), ("1", "0", nil), (nil, "3", nil),
            ("-9223372036854775808", "3", nil),
            ("9223372036854775807", "9223372036854775807", nil),
        ] as [(String?, String, String?)]
    )
    func `a count's share is rounded to a tenth of a percent, also of a negative count, and a part of nothing has none`(
        part: String?,
        whole: String,
        share: String?
    ) {
        #expect(FigureText.share(part, of: whole) == share)
    }

    @Test(
        arguments: [
            (100, 103, "+3.0%"), (1_000, 999, "−0.1%"), (3, 3, "no change"), (0, 0, "no change"),
            (0, 5, "up from then"),
            (-5, -7, "down from then"), (8, 0, "−100.0%"), (1, 30, "+2,900.0%"), (1, Int64.max, "up from then"),
            (Int64.min, Int64.max, "up from then"),
        ] as [(Int64, Int64, String)]
    )
    func `a change is in percent where percent say something`(before: Int64, now: Int64, words: String) {
        #expect(FigureText.change(from: before, to: now, earlier: "then") == words)
    }

    @Test func `a change of a rate is in points`() {
        #expect([120, -5, 0].map(FigureText.points) == ["+1.20 points", "−0.05 points", "no change"])
    }

    @Test func `months are counted back over the years`() {
        #expect(FigureText.month("2026-02", less: 1) == "2026-01")
        #expect(FigureText.month("2026-01", less: 1) == "2025-12")
        #expect(FigureText.month("2026-11", less: 24) == "2024-11")
        #expect(FigureText.month("soon", less: 1) == nil)
    }

    @Test(
        arguments: [("1.5", "1.50"), ("-0.254", "-0.25"), ("12", "12.00"), ("0.005", "0.01"), ("x", nil)]
            as [(String, String?)]
    )
    func `a ratio has two digits after the point`(value: String, words: String?) {
        #expect(FigureText.plainRatio(value) == words)
    }

    @Test func `a cell of the heat map is a whole percent, and a small share is not shown as 0`() {
        #expect(
            ["0.0000", "0.0049", "0.0050", "0.1249", "1.0000"].map(FigureText.wholePercent) == [
                "0", "<1", "1", "12", "100",
            ]
        )
    }

    @Test func `every value inserted into markup stays text`() {
        let hostile = "<script>'\"&\u{202E}\u{7}\u{2028}"
        let html: HTML = "<td title=\"\(hostile)\">\(hostile)</td>"
        let safe = "&lt;script&gt;&#39;&quot;&amp;\\u{202E}\\u{7}\\u{2028}"
        #expect(html.text == "<td title=\"\(safe)\">\(safe)</td>")
    }

    @Test func `figures in a script cannot end it`() {
        let json = JSONValue.array([.string("</script><!--&"), .number(JSONNumber(text: "1.5"))]).inScript.text
        #expect(json == #"["\u003c/script\u003e\u003c!--\u0026",1.5]"#)
    }
}

/// Months and days that are not over.
struct PartialPeriodTests {
    private static let columns = [
        FigureColumn("month", "Month", .month), FigureColumn("sold", "Sold", .count, of: "all"),
        FigureColumn("all", "All", .count),
    ]

    private func table(_ months: [String], asOf: String) -> FigureTable {
        FigureTable(columns: Self.columns, rows: months.map { [$0, "1", "8"] }, asOf: asOf)
    }

    private func panel(_ table: FigureTable, isSum: Bool = false, isForecast: Bool = false) -> ChartPanel {
        let series = [Chart.Series(column: "sold", tone: 0)]
        let chart = Chart(
            form: .bars,
            axis: "month",
            series: series,
            isSum: isSum,
            isForecast: isForecast,
            words: "what was sold by month"
        )
        return ChartPanel(currency: nil, chart: chart, table: table)
    }

    @Test func `a month that is not over is marked as partial in its table, and only that one`() {
        let html = HTMLTable(
            id: "t",
            caption: "Sold",
            figures: table(["2026-11", "2026-10"], asOf: "2026-11-22T04:05:06Z")
        ).html.text
        #expect(html.contains("Nov 2026</time> <span class=\"partial\">so far</span>"))
        #expect(html.contains("Oct 2026</time></th>"))
        #expect(
            html.contains("<td class=\"number\">1 <span class=\"share\">12.5%</span></td><td class=\"number\">8</td>")
        )
    }

    @Test func `what counts is when the figures were made, not when the page was`() {
        // Refreshed on the last day of October and read in November: October may still have grown.
        #expect(panel(table(["2026-10", "2026-09"], asOf: "2026-10-31T23:00:00Z")).partial == "2026-10")
        #expect(panel(table(["2026-10", "2026-09"], asOf: "2026-11-01T00:00:00Z")).partial == nil)
    }

    @Test func `a sum is partial in the current month, and an expected figure is not`() {
        let old = table(["2026-08"], asOf: "2026-11-22T04:05:06Z")
        #expect(panel(old, isSum: true).partial == "2026-11")
        #expect(panel(old).partial == nil)
        #expect(panel(table(["2026-12", "2026-11"], asOf: "2026-11-22T04:05:06Z"), isForecast: true).partial == nil)
    }

    @Test func `a screen reader hears that a month is not over`() {
        let label = panel(table(["2026-11", "2026-10"], asOf: "2026-11-22T04:05:06Z")).label
        #expect(
            label
                == "Chart: what was sold by month, Oct 2026 to Nov 2026. Nov 2026 is not over. The table below has the figures."
        )
    }
}

/// The figures at the top of the page.
struct KeyFigureTests {
    private func html(_ tables: [ReportQuestion: [[String?]]]) -> String {
        let tables = tables.map { question, rows in
            (question.name, FigureTable(columns: question.columns, rows: rows, asOf: "2026-11-22T04:05:06Z"))
        }
        let figures = ReportFigures(
            app: "com.example.game",
            environment: "Production",
            job: "nightly",
            readAt: "2026-11-22T04:10:00Z",
            daysBefore: (thirty: "2026-10-23", sixty: "2026-09-23"),
            viewsAsOf: "2026-11-22T04:05:06Z",
            tables: Dictionary(uniqueKeysWithValues: tables)
        )
        return KeyFigures(figures: figures, currencies: ["EUR"]).html.text
    }

    @Test func `sales are from the last month that is over, and the present month is shown separately`() {
        func row(_ month: String, _ net: String) -> [String?] { [month, "EUR", "1", net, "0", "0", net] }
        let tile = html([.revenue: [row("2026-11", "40000"), row("2026-10", "150000"), row("2026-09", "120000")]])
        #expect(tile.contains("<dd>150.00</dd><dd class=\"remark\">EUR, Oct 2026; Nov 2026 so far 40.00</dd>"))
        #expect(tile.contains("<dd class=\"change\">+25.0% against Sep 2026</dd>"))
        let young = html([.revenue: [row("2026-11", "40000")]])
        #expect(young.contains("<dd>40.00</dd><dd class=\"remark\">EUR, Nov 2026 so far</dd></div>"))
        let gone = html([.revenue: [row("2026-08", "1000")]])
        #expect(gone.contains("<dd>0.00</dd><dd class=\"remark\">EUR, Oct 2026</dd>"), "\(gone)")
    }

    @Test func `recurring revenue is compared with the end of the month before`() {
        let row = ["2026-11", "EUR", "200000", "0", "0", "0", "0", "0", "0", "0", "190000", "9"]
        let tile = html([.mrrMovement: [row]])
        #expect(tile.contains("<dd>190.00</dd><dd class=\"remark\">EUR, now</dd>"))
        #expect(tile.contains("<dd class=\"change\">−5.0% since the end of Oct 2026</dd>"))
    }

    @Test func `subscriptions are compared with 30 days before`() {
        let rows: [[String?]] = [["2026-11-22", "12", "3"], ["2026-10-23", "10", "3"], ["2026-10-22", "99", "99"]]
        let tiles = html([.activeSubscriptions: rows])
        #expect(
            tiles.contains("<dd>12</dd><dd class=\"remark\">active now</dd><dd class=\"change\">+20.0% in 30 days</dd>")
        )
        #expect(
            tiles.contains("<dd>3</dd><dd class=\"remark\">running</dd><dd class=\"change\">no change in 30 days</dd>")
        )
        #expect(html([.activeSubscriptions: [rows[0]]]).contains("up from 0 in 30 days"))
    }

    @Test func `rates are compared in points`() {
        func month(_ month: String, _ refunded: String) -> [String?] { [month, "100", refunded, nil, "0"] }
        let rows = [
            month("2026-11", "90"), month("2026-10", "5"), month("2025-11", "3"), month("2025-10", "1"),
            month("2024-10", "9"),
        ]
        let tile = html([.refundsByMonth: rows])
        #expect(tile.contains("<dd>4.00%</dd><dd class=\"remark\">8 of 200 purchases of 12 months</dd>"), "\(tile)")
        #expect(tile.contains("<dd class=\"change\">+3.00 points against the 12 before</dd>"))
    }
}

/// The comparison of delivered notifications with the 30 days before.
struct DeliveryTileTests {
    /// The tile of a ledger with notifications of both windows, and of a day that is the oldest.
    private func tile(oldest: String?, gaps: [[String?]] = []) -> String {
        func row(_ day: String, _ atOnce: String) -> [String?] { [day, atOnce, "0", "0", "0", "0", "0", "100"] }
        let rows = [row("2026-11-20", "97"), row("2026-10-20", "90")] + (oldest.map { [row($0, "100")] } ?? [])
        let figures = ReportFigures(
            app: "com.example.game",
            environment: "Production",
            job: "nightly",
            readAt: "2026-11-22T04:10:00Z",
            daysBefore: (thirty: "2026-10-23", sixty: "2026-09-23"),
            viewsAsOf: "2026-11-22T04:05:06Z",
            tables: [
                ReportQuestion.deliveries.name: FigureTable(columns: ReportQuestion.deliveries.columns, rows: rows),
                ReportQuestion.gaps.name: FigureTable(columns: ReportQuestion.gaps.columns, rows: gaps),
            ]
        )
        return KeyFigures(figures: figures, currencies: []).html.text
    }

    @Test func `deliveries are compared if a notification is older than the window before`() {
        #expect(tile(oldest: "2026-09-23").contains("+7.00 points against the 30 before"))
        let young = tile(oldest: "2026-09-24")
        #expect(young.contains("<dd>97.00%</dd>") && !young.contains("against"), "\(young)")
        #expect(!tile(oldest: nil).contains("against"))
    }

    @Test func `deliveries are not compared if a gap of notifications reaches into the window before`() {
        func isCompared(_ stream: String, _ first: String, _ last: String) -> Bool {
            let gap = [stream, "1", "\(first)T00:00:00Z", "\(last)T01:00:00Z"]
            return tile(oldest: "2026-09-01", gaps: [gap]).contains("against")
        }
        #expect(!isCompared("notificationHistory", "2026-09-10", "2026-09-24"))
        #expect(!isCompared("notificationHistory", "2026-10-23", "2026-11-10"))
        #expect(isCompared("notificationHistory", "2026-09-10", "2026-09-23"))
        #expect(isCompared("notificationHistory", "2026-10-24", "2026-11-10"))
        #expect(isCompared("transactionHistory", "2026-09-10", "2026-10-10"))
    }
}

/// The line below a table with percentages.
struct ShareBaseTests {
    private func html(_ columns: [FigureColumn]) -> String {
        HTMLTable(id: "t", caption: "Counts", figures: FigureTable(columns: columns, rows: [])).html.text
    }

    @Test func `a table names the columns of which its percentages are shares`() {
        let all = FigureColumn("all", "All", .count)
        let (paid, running) = (
            FigureColumn("paid", "Paid", .count, of: "all"), FigureColumn("running", "Running", .count, of: "all")
        )
        let off = FigureColumn("off", "Renewal off", .count, of: "running")
        #expect(
            html([paid, running, all]).contains(
                "<p class=\"remark\">Percentages next to counts are shares of “All”.</p>"
            )
        )
        #expect(
            html([paid, running, off, all]).contains(
                "Percentages next to counts are shares of “All”; those in “Renewal off” are shares of “Running”.</p>"
            )
        )
        #expect(!html([all]).contains("Percentages"))
    }
}

/// What every question of the page has in common.
struct ReportSectionTests {
    @Test func `every section, card and question has a unique name`() {
        let questions = ReportQuestion.all.map(\.name)
        #expect(Set(questions).count == questions.count)
        let sections = ReportSection.all.map(\.id)
        #expect(Set(sections).count == sections.count && Set(sections).isDisjoint(with: questions))
    }

    @Test func `every chart draws columns that its question has`() {
        for case let card as ChartCard in ReportSection.all.flatMap(\.cards) {
            guard let chart = card.chart else { continue }
            let columns = card.tables[0].question.columns.map(\.name)
            let drawn = chart.series.map(\.column) + [chart.axis] + (chart.note.map { [$0.part, $0.whole] } ?? [])
            #expect(Set(drawn).isSubset(of: columns), "\(card.title)")
        }
        for question in ReportQuestion.all {
            let columns = question.columns.map(\.name)
            #expect(Set(question.columns.compactMap(\.whole)).isSubset(of: columns), "\(question.name)")
        }
    }
}

/// Where Chart.js is looked for.
struct ChartLibraryTests {
    private let real = "/*!\n * Chart.js v3.9.1\n * Released under the MIT License\n */\n!function(){}();"

    private func search(installed: String?, system: String?) async throws -> Result<ChartLibrary, NoChartLibrary> {
        try await withTemporaryDirectory { directory in
            let folder = directory + "/share/storeledger"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            if let installed { try Data(installed.utf8).write(to: URL(filePath: folder + "/chart.min.js")) }
            if let system { try Data(system.utf8).write(to: URL(filePath: directory + "/system.js")) }
            do throws(NoChartLibrary) {
                let executable = directory + "/bin/storeledger"
                return .success(try ChartLibrary.find(executable: executable, system: directory + "/system.js"))
            } catch {
                return .failure(error)
            }
        }
    }

    @Test func `the installed copy goes before the distribution's`() async throws {
        let other = real.replacing("3.9.1", with: "4.4.0")
        #expect(try await search(installed: real, system: other).get().version == "3.9.1")
        #expect(try await search(installed: nil, system: other).get().version == "4.4.0")
    }

    @Test(arguments: [
        nil, "/*!\n * Chart.js v2.9.4\n */", "console.log(1)", "/*!\n * Chart.js v3.9.1\n */ '</SCRIPT>'",
    ])
    func `no library, or another file in its place, names the package`(file: String?) async throws {
        let found = try await search(installed: nil, system: file)
        guard case .failure(let error) = found else { return #expect(Bool(false), "\(found)") }
        #expect(error.sentence.contains("libjs-chart.js") && !error.sentence.contains("\n"))
    }
}
