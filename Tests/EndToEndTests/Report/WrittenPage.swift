import FoundationEssentials

/// A report's page as somebody reads it who knows nothing of how it was made.
struct WrittenPage {
    let html: String

    init(_ path: String) throws { html = try String(contentsOfFile: path, encoding: .utf8) }

    init(html: String) { self.html = html }

    /// Without the charts' library.
    var own: String {
        html.replacing(/(?s)<script>\/\*!.*?<\/script>/, with: "")
    }

    /// The cells of a table's body: moments by their `datetime`, numbers without what groups them, text as it reads.
    func table(_ id: String) -> [[String]] {
        guard let start = html.firstRange(of: "<table id=\"table-\(id)\""),
            let end = html[start.upperBound...].firstRange(of: "</tbody>")
        else { return [] }
        let body = html[start.upperBound..<end.lowerBound].split(separator: "<tbody>").last ?? ""
        return body.split(separator: "<tr>").dropFirst().map { row in
            row.matches(of: /(?s)<t[hd]([^>]*)>(.*?)<\/t[hd]>/).map { cell in
                Self.value(of: cell.2, isNumber: cell.1.contains("number"))
            }
        }
    }

    private static func value(of cell: Substring, isNumber: Bool) -> String {
        if let moment = cell.firstMatch(of: /datetime="([^"]*)"/)?.1 { return String(moment) }
        let text = text(of: cell)
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
        let painted, colours: Int
        let labels: [String]
        let sets: [Set]
    }
    let title: String
    let scripts, resources: Int
    let charts: [Chart]

    /// Reads every chart, for each currency that can be chosen.
    static let script = """
        <script>
        const select = document.getElementById("currency");
        const found = {title: document.title, scripts: document.scripts.length, charts: [],
                       resources: performance.getEntriesByType("resource").length};
        for (const currency of select ? [...select.options].map(option => option.value) : [""]) {
          if (select) { select.value = currency; select.dispatchEvent(new Event("change")); }
          for (const canvas of document.querySelectorAll("canvas")) {
            if (canvas.parentElement.hidden) continue;
            const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
            const data = Chart.getChart(canvas).data;
            found.charts.push({
              id: canvas.id, currency, label: canvas.getAttribute("aria-label"), painted: pixels.filter(one => one).length,
              colours: new Set(pixels).size, labels: data.labels.map(String),
              sets: data.datasets.map(set => ({name: set.label, values: set.data}))
            });
          }
        }
        const told = document.createElement("pre");
        told.id = "probe";
        told.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(found))));
        document.body.append(told);
        </script>
        """

    /// From the document that the script has written into.
    init(document: String) throws {
        struct Untold: Error {}
        guard let told = document.firstMatch(of: /<pre id="probe">([^<]*)</)?.1,
            let json = Data(base64Encoded: String(told))
        else { throw Untold() }
        self = try JSONDecoder().decode(Probe.self, from: json)
    }
}
