import FoundationEssentials

/// A report's page as a reader sees it, without knowledge of how it was written.
struct WrittenPage {
    let html: String

    init(_ path: String) throws { html = try String(contentsOfFile: path, encoding: .utf8) }

    init(html: String) { self.html = html }

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
            // The column about missing rates is left out; `lacks(_:)` reads it.
            row.matches(of: /(?s)<t[hd]([^>]*)>(.*?)<\/t[hd]>/).filter { !$0.1.contains("lacks") }.map { cell in
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
