import AppStoreModel
import FoundationEssentials
import Hashing
import Ledger
import StrictJSON

/// The report as one self-contained HTML page, with style, script, chart library and figures.
struct ReportPage {
    let figures: ReportFigures
    let library: ChartLibrary
    /// The version of storeledger.
    let version: String
    /// Where the app's customers came from, for a job that takes them from notifications.
    var sources: CustomerSources?

    /// Draws the charts from the figures in the page, in the current colours, for the chosen currency.
    ///
    /// The script shows text only as text or on the canvas, never as markup. After drawing, `<html data-charts>`
    /// contains the number of charts.
    private static let script = text(PackageResources.report_js)

    /// The page's style: light, dark and for print.
    private static let style = text(PackageResources.report_css)

    private static func text(_ resource: [UInt8]) -> String { String(decoding: resource, as: UTF8.self) }

    var html: String {
        let body = figures.isEmpty ? nothing : content
        let title = "\(figures.app): App Store ledger"
        let page: HTML = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(policy)">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="referrer" content="no-referrer">
            <meta name="robots" content="noindex">
            <title>\(title)</title>
            <link rel="icon" href="data:,">
            <style>\(.trusted(Self.style))</style>
            </head>
            <body>
            <header>
            <div><h1>\(figures.app)</h1>
            <p class="remark">App Store ledger · \(figures.environment) · job \(figures.job)</p>\(missing)</div>
            \(choosers)</header>
            <main>
            \(body)</main>
            <footer>
            <p>\(provenance)</p>
            <p>Written by storeledger \(version). Charts: Chart.js \(library.version), © Chart.js Contributors, MIT License.</p>
            </footer>
            \(figures.isEmpty ? .empty : scripts)
            </body>
            </html>

            """
        return page.text
    }

    private var missing: HTML {
        guard let sources, sources.lacksList else { return .empty }
        let list =
            sources.largestList == 0
            ? "no run has had a list of transaction IDs"
            : "the largest list of transaction IDs had only \(sources.largestListInWords)"
        return """

            <p class="remark">Customers without a notification are not in the ledger, so sales and counts are too low: \(list).</p>
            """
    }

    private var content: HTML {
        let shown = ReportSection.all.filter { $0.isShown(figures) }
        let links: [HTML] = shown.map { "<a href=\"#\($0.id)\">\($0.title)</a>\n" }
        let sections: [HTML] = shown.map { $0.html(figures, currencies: currencies) }
        return """
            \(KeyFigures(figures: figures, currencies: currencies).html)<nav aria-label="Sections">
            \(links)</nav>
            \(sections)
            """
    }

    private var nothing: HTML {
        """
        <p class="nothing">There is nothing yet.</p>
        <p>The job \(figures.job) has not run with this ledger. <code>storeledger run</code> fills it; then write the
        report again.</p>

        """
    }

    private var provenance: HTML {
        let read = FigureText.words(figures.readAt, .moment)
        let asOf = figures.viewsAsOf.map { " Figures by month and day as of \(FigureText.words($0, .moment)) UTC." }
        let promise = "Days and months are UTC. No amount is summed across currencies."
        return "Read from the ledger at \(read) UTC.\(asOf ?? "") \(promise)"
    }

    /// In descending order of purchases.
    private var currencies: [String] {
        let table = figures[.revenue]
        let (currency, purchases) = (table.place(of: "currency"), table.place(of: "purchases"))
        var counts: [String: Int64] = [:]
        for row in table.rows {
            guard let name = row[currency] else { continue }
            counts[name, default: 0] += row[purchases].flatMap { Int64($0) } ?? 0
        }
        for case let name? in figures[.mrrMovement].values("currency") { counts[name, default: 0] += 0 }
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
    }

    /// The choices that affect the charts; the currency only if there are several.
    private var choosers: HTML {
        guard !figures.isEmpty else { return .empty }
        let names: [HTML] = currencies.map { "<option>\($0)</option>" }
        let currency: HTML =
            names.count < 2
            ? .empty
            : """
            <p><label for="currency">Currency of the charts</label>
            <select id="currency" autocomplete="off">\(names)</select></p>

            """
        return """
            <div class="choosers">
            \(currency)<p><label for="range">Range of the charts</label>
            <select id="range" autocomplete="off"><option value="3">3 months</option>\
            <option value="12" selected>12 months</option><option value="24">24 months</option>\
            <option value="0">all</option></select></p>
            </div>

            """
    }

    private var chartData: JSONValue {
        let charts = ReportSection.all.flatMap(\.cards).compactMap { $0.chartData(figures, currencies: currencies) }
        return .object([("today", .string(String(figures.readAt.prefix(10)))), ("charts", .array(charts))])
    }

    private var scripts: HTML {
        """
        <script type="application/json" id="figures">\(chartData.inScript)</script>
        <script>\(.trusted(library.script))</script>
        <script>\(.trusted(Self.script))</script>
        """
    }

    /// The content security policy: loads nothing from outside, and allows only this page's scripts and style
    /// by their hashes.
    private var policy: String {
        let scripts = [library.script, Self.script].map { "'sha256-\(Self.fingerprint($0))'" }.joined(separator: " ")
        return """
            default-src 'none'; style-src 'sha256-\(Self.fingerprint(Self.style))'; script-src \(scripts); img-src data:; \
            base-uri 'none'; form-action 'none'
            """
    }

    private static func fingerprint(_ text: String) -> String {
        Data(SHA256.digest(of: Array(text.utf8))).base64EncodedString()
    }
}
