/// An HTML table with a caption and headings that have a scope.
struct HTMLTable {
    let id: String
    let caption: String
    let figures: FigureTable

    var html: HTML {
        let currency = figures.columns.firstIndex { $0.name == "currency" }
        let heads: [HTML] = figures.columns.map { column in
            "<th scope=\"col\"\(column.kind.alignment)>\(column.title)</th>"
        }
        let rows: [HTML] = figures.rows.map { row in
            let cells: [HTML] = figures.columns.indices.map { place in
                let column = figures.columns[place]
                let words = FigureText.words(row[place], column.kind, currency: currency.flatMap { row[$0] })
                let share = column.whole.flatMap { FigureText.share(row[place], of: row[figures.place(of: $0)]) }
                let remark: HTML =
                    if let share {
                        " <span class=\"share\">\(share)</span>"
                    } else if figures.isPartial(row[place], column.kind) {
                        " <span class=\"partial\">so far</span>"
                    } else {
                        .empty
                    }
                let shown: HTML = "\(element(words, row[place], column.kind))\(remark)"
                return place == 0
                    ? "<th scope=\"row\"\(column.kind.alignment)>\(shown)</th>"
                    : "<td\(column.kind.alignment)>\(shown)</td>"
            }
            return "<tr>\(cells)</tr>\n"
        }
        return """
            <div class="scroll" tabindex="0" role="region" aria-label="\(caption)">
            <table id="\(id)"><caption>\(caption)</caption>
            <thead><tr>\(heads)</tr></thead>
            <tbody>
            \(rows)</tbody></table></div>\(bases)
            """
    }

    /// Names the column of which the percentages next to counts are shares; a table can have several.
    private var bases: HTML {
        let parts = figures.columns.filter { $0.whole != nil }
        let wholes = parts.compactMap(\.whole).reduce(into: [String]()) { found, whole in
            if !found.contains(whole) { found.append(whole) }
        }
        guard let first = wholes.first else { return .empty }
        func title(_ name: String) -> String { "“\(figures.columns[figures.place(of: name)].title)”" }
        let others = wholes.dropFirst().map { whole in
            let names = parts.filter { $0.whole == whole }.map { title($0.name) }.joined(separator: ", ")
            return "; those in \(names) are shares of \(title(whole))"
        }
        return "\n<p class=\"remark\">Percentages next to counts are shares of \(title(first))\(others.joined()).</p>"
    }

    private func element(_ words: String, _ value: String?, _ kind: FigureColumn.Kind) -> HTML {
        switch (kind, value) {
        case (.month, let value?), (.day, let value?), (.moment, let value?):
            "<time datetime=\"\(value)\">\(words)</time>"
        case (.text, _): "<bdi>\(words)</bdi>"
        default: "\(words)"
        }
    }
}

extension FigureColumn.Kind {
    /// Numbers are aligned so that their digits are below each other.
    fileprivate var alignment: HTML {
        switch self {
        case .count, .money, .rate, .ratio, .seconds: " class=\"number\""
        case .text, .month, .day, .moment: ""
        }
    }
}
