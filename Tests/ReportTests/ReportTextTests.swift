import AppStoreModel
import FoundationEssentials
import TestSupport
import Testing

@testable import Report

/// How figures and names become a page.
struct ReportTextTests {
    @Test(
        arguments: [
            (0, "USD", "0.00"), (9_990, "USD", "9.99"), (9_995, "USD", "9.995"), (-500, "USD", "−0.50"),
            (1_234_567_890, "EUR", "1,234,567.89"), (1_000_000, "JPY", "1,000"), (1_000_500, "JPY", "1,000.50"),
            (Int64.min, "USD", "−9,223,372,036,854,775.808"), (12_340, nil, "12.34"),
        ] as [(Int64, String?, String)]
    )
    func `money is exact, with two digits or as many as it needs`(milliunits: Int64, currency: String?, words: String) {
        #expect(FigureText.money(milliunits, currency: currency) == words)
    }

    @Test func `a headline is rounded to two digits`() {
        #expect(FigureText.headline(145_304, currency: "EUR") == "145.30")
        #expect(FigureText.headline(145_305, currency: "EUR") == "145.31")
        #expect(FigureText.headline(-145_305, currency: "EUR") == "−145.31")
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

    @Test func `a cell of the heat map is a whole percent, and little is not nothing`() {
        #expect(
            ["0.0000", "0.0049", "0.0050", "0.1249", "1.0000"].map(FigureText.percent) == ["0", "<1", "1", "12", "100"]
        )
    }

    @Test func `what is put into markup is text, whatever it holds`() {
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
