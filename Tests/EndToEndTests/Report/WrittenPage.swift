import FoundationEssentials

/// A report's page as a reader sees it, without knowledge of how it was written.
struct WrittenPage {
    let html: String

    init(_ path: String) throws { html = try String(contentsOfFile: path, encoding: .utf8) }

    init(html: String) { self.html = html }

    /// Without the charts' library.
    var own: String {
        html.replacing(/(?s)<script>\/\*!.*?<\/script>/, with: "")
    }

    /// The cells of a table's body: moments by their `datetime`, numbers without commas and shares, text as it reads.
    func table(_ id: String) -> [[String]] {
        cells(id) { Self.value(of: $0, isNumber: $1) }
    }

    /// The shares next to the counts of a table's body; empty in a cell without one.
    func shares(_ id: String) -> [[String]] {
        cells(id) { cell, _ in cell.firstMatch(of: /<span class="share">([^<]*)</).map { String($0.1) } ?? "" }
    }

    private func cells(_ id: String, _ value: (_ cell: Substring, _ isNumber: Bool) -> String) -> [[String]] {
        guard let start = html.firstRange(of: "<table id=\"table-\(id)\""),
            let end = html[start.upperBound...].firstRange(of: "</tbody>")
        else { return [] }
        let body = html[start.upperBound..<end.lowerBound].split(separator: "<tbody>").last ?? ""
        return body.split(separator: "<tr>").dropFirst().map { row in
            row.matches(of: /(?s)<t[hd]([^>]*)>(.*?)<\/t[hd]>/).map { cell in
                value(cell.2, cell.1.contains("number"))
            }
        }
    }

    private static func value(of cell: Substring, isNumber: Bool) -> String {
        if let moment = cell.firstMatch(of: /datetime="([^"]*)"/)?.1 { return String(moment) }
        let text = text(of: cell.replacing(#/ <span class="share">[^<]*</span>/#, with: ""))
        return isNumber ? text.replacing(",", with: "").replacing("−", with: "-") : text
    }

    /// What a browser shows of a piece of markup.
    static func text(of markup: Substring) -> String {
        String(markup).replacing(/<[^>]*>/, with: "").replacing("&lt;", with: "<").replacing("&gt;", with: ">")
            .replacing("&quot;", with: "\"").replacing("&#39;", with: "'").replacing("&amp;", with: "&")
    }
}

/// What a script finds in the page once its charts are drawn.
struct Probe: Decodable {
    struct Chart: Decodable {
        struct Set: Decodable {
            let name: String
            let values: [Double?]
        }
        let id, currency, label: String
        /// Pixels that are not empty, and how many colours there are among them.
        let painted, colors: Int
        /// The lines of a label are separated by line feeds.
        let labels: [String]
        /// Which bars have another filling than the first.
        let lighter: [Int]
        let sets: [Set]
    }
    let title: String
    let scripts, resources: Int
    let charts: [Chart]
    /// How many labels the charts have, by chart and chosen range in months; 0 is all.
    let ranges: [String: [String: Int]]
    /// The page's width, and how wide it would have to be to scroll to no side, in CSS pixels.
    let width, scrollWidth: Int
    /// The widths of the charts on paper, in CSS pixels.
    let paper: [Int]

    /// Reads every chart, for each currency that can be chosen, then each range, and what is drawn for paper.
    static let script = """
        <script>
        const select = document.getElementById("currency");
        const found = {title: document.title, scripts: document.scripts.length, charts: [],
                       resources: performance.getEntriesByType("resource").length, ranges: {}, paper: [],
                       width: innerWidth, scrollWidth: document.documentElement.scrollWidth};
        const range = document.getElementById("range");
        const all = () => [...document.querySelectorAll("canvas")].filter(canvas => !canvas.parentElement.hidden);
        const choose = (element, value) => { element.value = value; element.dispatchEvent(new Event("change")); };
        for (const months of range ? [...range.options].map(option => option.value) : []) {
          choose(range, months);
          for (const canvas of all()) {
            (found.ranges[canvas.id] ??= {})[months] = Chart.getChart(canvas).data.labels.length;
          }
        }
        for (const currency of select ? [...select.options].map(option => option.value) : [""]) {
          if (select) choose(select, currency);
          for (const canvas of all()) {
            const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
            const data = Chart.getChart(canvas).data;
            found.charts.push({
              id: canvas.id, currency, label: canvas.getAttribute("aria-label"), painted: pixels.filter(one => one).length,
              colours: new Set(pixels).size, labels: data.labels.map(label => [].concat(label).join("\\n")),
              lighter: data.datasets.filter(set => set.type === "bar").slice(0, 1).flatMap(
                set => set.backgroundColor.flatMap((fill, index) => fill === set.backgroundColor[0] ? [] : [index])),
              sets: data.datasets.map(set => ({name: set.label, values: set.data}))
            });
          }
        }
        if (select) choose(select, select.options[0].value);
        dispatchEvent(new Event("beforeprint"));
        found.paper = all().map(canvas => Math.round(canvas.getBoundingClientRect().width));
        dispatchEvent(new Event("afterprint"));
        const told = document.createElement("pre");
        told.id = "probe";
        told.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(found))));
        document.body.append(told);
        if (parent !== window) parent.postMessage(told.textContent, "*");
        </script>
        """

    /// A page that shows another one in a frame, because Chromium's window is never narrower than 500 pixels.
    static func frame(of file: String, width: Int) -> String {
        """
        <!doctype html><body><script>
        addEventListener("message", event => {
          const told = document.createElement("pre");
          told.id = "probe";
          told.textContent = event.data;
          document.body.append(told);
        });
        </script><iframe src="file://\(file)" width="\(width)" height="800" style="border: 0"></iframe>
        """
    }

    /// From the document that the script has written into.
    init(document: String) throws {
        struct Untold: Error {}
        guard let told = document.firstMatch(of: /<pre id="probe">([^<]*)</)?.1,
            let json = Data(base64Encoded: String(told))
        else { throw Untold() }
        self = try JSONDecoder().decode(Probe.self, from: json)
    }
}
