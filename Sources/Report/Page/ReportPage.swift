import AppStoreModel
import FoundationEssentials
import SignedData

/// The report as one HTML page that needs nothing else: its style, its script, its charts' library and its figures.
struct ReportPage {
    let figures: ReportFigures
    let library: ChartLibrary
    /// Of storeledger.
    let version: String

    /// Draws the charts from the figures in the page, in the colours of the moment, for the chosen currency.
    ///
    /// Text reaches the page as text and the canvas only; once drawn, `<html data-charts>` says how many there are.
    private static let script = text(PackageResources.report_js)

    /// The page's look: light, dark and on paper.
    private static let style = text(PackageResources.report_css)

    private static func text(_ resource: [UInt8]) -> String { String(decoding: resource, as: UTF8.self) }

    private static let sections: [ReportSection] = [
        .revenue, .recurring, .active, .states, .products, .storefronts, .deliveries, .runs,
    ]

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
            <p class="remark">App Store ledger · \(figures.environment) · job \(figures.job)</p></div>
            \(chooser)</header>
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

    private var content: HTML {
        let before = Self.sections.prefix(4).map { $0.html(figures, currencies: currencies) }
        let after = Self.sections.dropFirst(4).map { $0.html(figures, currencies: currencies) }
        return """
            \(KeyFigures(figures: figures, currencies: currencies).html)<div class="cards">
            \(before)\(CohortSection(figures: figures[.retention]).html)\(Array(after))\
            \(ReportSection.failing.html(figures, currencies: currencies))</div>

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

    /// The one with the most purchases first.
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

    private var chooser: HTML {
        let names = currencies
        guard names.count > 1 else { return .empty }
        let options: [HTML] = names.map { "<option>\($0)</option>" }
        return """
            <p class="chooser"><label for="currency">Currency of the charts</label>
            <select id="currency" autocomplete="off">\(options)</select></p>

            """
    }

    private var chartData: JSONValue {
        .array(
            Self.sections.compactMap { section in
                guard let chart = section.chart else { return nil }
                let panels = chart.panels(of: figures[section.tables[0].question], currencies: currencies)
                return panels.isEmpty ? nil : chart.json(panels)
            }
        )
    }

    private var scripts: HTML {
        """
        <script type="application/json" id="figures">\(chartData.inScript)</script>
        <script>\(.trusted(library.script))</script>
        <script>\(.trusted(Self.script))</script>
        """
    }

    /// Nothing from anywhere, and of what is in the page only what was written here.
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
