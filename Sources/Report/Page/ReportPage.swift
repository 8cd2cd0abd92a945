import AppStoreModel
import FoundationEssentials
import Hashing
import Status
import StrictJSON

/// The report as one self-contained HTML page, with style, script and figures.
struct ReportPage {
    let figures: ReportFigures
    /// The version of storeledger.
    let version: String
    /// Where the app's customers came from, for a job that takes them from notifications.
    var sources: CustomerSources?

    /// Filters, adds up, compares and draws the figures in the page.
    ///
    /// The script shows text only as text, never as markup. After drawing, `<html data-charts>` contains the number of charts.
    private static let script = text(PackageResources.report_js)

    /// The page's style: light, dark and for print.
    private static let style = text(PackageResources.report_css)

    private static func text(_ resource: [UInt8]) -> String { String(decoding: resource, as: UTF8.self) }

    var html: String {
        let body = figures.isEmpty ? nothing : content
        let title = "\(name): App Store ledger"
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
            <div><h1>\(name)</h1>
            <p class="remark">App Store ledger · \(subject)</p>\(missing)</div>
            </header>
            <main>
            \(body)</main>
            <footer>
            <p>\(provenance)</p>
            <p>Written by storeledger \(version).</p>
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

    private var choice: DefaultChoice { DefaultChoice(figures: figures) }

    private var name: String {
        figures.subjects.count == 1 ? figures.subjects[0].bundleId : "\(figures.subjects.count) apps"
    }

    private var subject: String {
        let environments = Set(figures.subjects.map(\.environment)).sorted().joined(separator: ", ")
        let jobs = Set(figures.subjects.map(\.job)).sorted()
        return "\(environments) · \(jobs.count == 1 ? "job" : "jobs") \(jobs.joined(separator: ", "))"
    }

    private var content: HTML {
        let shown = ReportChart.sections.map { SectionHTML(id: $0.id, title: $0.title, choice: choice) }.filter(
            \.isShown
        )
        let links: [HTML] = shown.map { "<a href=\"#\($0.id)\">\($0.title)</a>\n" }
        return """
            \(choosers)\(KeyFigures(choice: choice).html)\(completeness)<nav aria-label="Sections">
            \(links)<a href="#definitions">Definitions</a></nav>
            \(shown.map(\.html))\(definitions)
            """
    }

    /// What the amounts and the page leave out.
    private var completeness: HTML {
        let scope = figures.scope
        let missing = choice.missingRate(of: .named("sales"), in: choice.months)
        let rates: HTML =
            if let reporting = scope.reporting {
                "Amounts are converted to \(reporting) at the rate of their day\(missing.map { ", \($0.sentence)" } ?? ""). \(oldest)"
            } else if scope.currencies.count > 1, let shown = scope.amounts {
                """
                There are no exchange rates, so amounts are in \(shown) only. For all currencies in one: \
                <code>storeledger rates import FILE --currency USD</code>. 
                """
            } else {
                .empty
            }
        let others = [("product_id", "products"), ("storefront", "storefronts"), ("currency", "currencies")].compactMap
        { segment, word in
            (scope.others[segment] ?? 0) > 0 ? "the \(scope.names(segment).count) largest \(word)" : nil
        }
        let sums: HTML =
            others.isEmpty
            ? .empty
            : "To stay small, the page has \(others.joined(separator: ", ")) in full, and sums the others as “other”. "
        return """
            <p class="remark" id="completeness"><span id="rates">\(rates)</span>\(sums)Figures by day begin with \
            \(FigureText.words(scope.daysFrom.text, .day)); before it they are by month.</p>

            """
    }

    /// The oldest rate of the months, if it is old.
    private var oldest: HTML {
        let used = choice.figures.scope.oldRates.filter { rate in
            CalendarDay(rate.month).map { choice.months.contains($0.monthNumber) } ?? false
        }
        guard let rate = used.max(by: { $0.days < $1.days }) else { return .empty }
        return
            "Oldest rate used: \(rate.currency) of \(FigureText.words(rate.day, .day)), \(FigureText.words(Double(rate.days), .count)) days old. "
    }

    /// What each chart shows, and the SQL that it is from.
    private var definitions: HTML {
        let entries: [HTML] = ReportChart.all.map { chart in
            let source = ReportChart.named(chart.source)
            let sql = String(decoding: source.question, as: UTF8.self).split(separator: "\n").filter {
                !$0.hasPrefix("--")
            }
            return """
                <dt id="definition-\(chart.id)" tabindex="-1">\(chart.title)</dt>
                <dd>\(chart.definition.isEmpty ? "\(chart.meaning) \(chart.remark)" : chart.definition)
                <br>From \(source.views.joined(separator: ", ")); more in docs/analysts/\(chart.docs).
                <details><summary>SQL<span class="unseen"> of \(chart.title)</span></summary>\
                <pre tabindex="0">\(Self.lines(sql.joined(separator: "\n")))</pre></details></dd>

                """
        }
        return """
            <section class="group" id="definitions" aria-labelledby="heading-definitions">
            <h2 id="heading-definitions" tabindex="-1">Definitions</h2>
            <details class="card" id="all-definitions"><summary>What each chart shows, and its SQL</summary><dl>
            \(entries)</dl></details>
            </section>

            """
    }

    /// SQL keeps its line feeds.
    private static func lines(_ text: String) -> [HTML] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { "\(String($0))\n" }
    }

    private var nothing: HTML {
        """
        <p class="nothing">There is nothing yet.</p>
        <p>The job \(figures.subjects.map(\.job).joined(separator: ", ")) has not run with this ledger. <code>storeledger run</code> fills it; then write the
        report again.</p>

        """
    }

    private var provenance: HTML {
        let read = FigureText.words(figures.readAt, .moment)
        let asOf = figures.viewsAsOf.map { " Figures by month and day as of \(FigureText.words($0, .moment)) UTC." }
        let promise = "Days and months are UTC. Amounts are added in one currency only."
        return "Read from the ledger at \(read) UTC.\(asOf ?? "") \(promise)"
    }

    /// The choices that every figure follows; the script fills and shows them.
    private var choosers: HTML {
        """
        <form class="choosers" id="choosers" aria-label="Choice of figures" autocomplete="off">
        <p><label for="app">App</label> <select id="app"></select></p>
        <p><label for="product">Product</label> <select id="product"></select></p>
        <p><label for="storefront">Storefront</label> <select id="storefront"></select></p>
        <p><label for="currency">Currency</label> <select id="currency"></select></p>
        <p><label for="range">Range</label> <select id="range"><option value="month">last month</option>\
        <option value="30d">30 days</option><option value="3">3 months</option><option value="12" selected>12 months</option>\
        <option value="24">24 months</option><option value="this-year">this year</option>\
        <option value="last-year">last year</option><option value="all">all</option><option value="free">from … to …</option></select>
        <label for="from" class="free">from</label> <input type="date" id="from" class="free"> \
        <label for="to" class="free">to</label> <input type="date" id="to" class="free"></p>
        <p><label for="step">By</label> <select id="step"><option value="day">day</option><option value="week">week</option>\
        <option value="month" selected>month</option></select></p>
        <p><label for="against">Compare with</label> <select id="against"><option value="">the range before, key figures only</option>\
        <option value="previous">the range before</option><option value="year">the year before</option>\
        <option value="none">nothing</option></select></p>
        <p><button type="reset" id="reset">Everything</button> <button type="button" id="link">Copy link</button></p>
        <p id="said" role="status"></p>
        </form>

        """
    }

    private var scripts: HTML {
        """
        <svg class="patterns" width="0" height="0" aria-hidden="true" focusable="false"><defs id="patterns"></defs></svg>
        <script type="application/json" id="figures">\(FigureData(figures: figures).json.inScript)</script>
        <script>\(.trusted(Self.script))</script>
        """
    }

    /// The content security policy: loads nothing from outside, and allows only this page's scripts and style
    /// by their hashes.
    private var policy: String {
        return """
            default-src 'none'; style-src 'sha256-\(Self.fingerprint(Self.style))'; script-src 'sha256-\(Self.fingerprint(Self.script))'; img-src data:; \
            base-uri 'none'; form-action 'none'
            """
    }

    private static func fingerprint(_ text: String) -> String {
        Data(SHA256.digest(of: Array(text.utf8))).base64EncodedString()
    }
}
