import Basics
import LedgerSchema
import Postgres
import SignedData

/// A file of `sql/views`: one view with the file's name, and its comments; or a script without a view.
struct ViewFile: Sendable {
    /// The file's name.
    let name: String
    let text: String
    /// The view's name.
    let relation: String
    let isView: Bool
    /// The columns that identify a row, from the comment "One row for each A, B."; `nil` without it.
    let rowKey: [String]?
    /// The comments of a view without its definition; for a script, the whole text.
    let comments: String
    /// The checksum of the definition, without comments.
    let checksum: String
    fileprivate let words: Set<Substring>

    init(name: String, text: String) {
        self.name = name
        self.text = text
        relation = String(name.dropLast(".sql".count))
        let lines = text.lines
        let code = lines.filter { !$0.utf8.drop { $0 == UInt8(ascii: " ") }.starts(with: "--".utf8) }
        let isComment = { (line: Substring) in line.utf8.starts(with: "COMMENT ON".utf8) }
        let definition = code.prefix { !isComment($0) }
        isView = definition.contains { $0.utf8.starts(with: "CREATE OR REPLACE VIEW".utf8) }
        rowKey = lines.first { $0.utf8.starts(with: Self.rowKeyPrefix.utf8) }.map { line in
            line.dropFirst(Self.rowKeyPrefix.count).prefix { $0 != "." }.split(separator: ", ").map(String.init)
        }
        checksum = SHA256.digest(of: Array(definition.joined(separator: "\n").utf8)).hexadecimal
        comments = isView ? lines.drop { !isComment($0) }.joined(separator: "\n") : text
        words = Set(definition.lazy.flatMap(\.words))
    }

    private static let rowKeyPrefix = "-- One row for each "

    /// The views that read tables of a refresh, themselves or through other views.
    ///
    /// - Parameter files: In the order of ``ordered(_:)``.
    static func showingLastRefresh(_ files: [ViewFile]) -> Set<String> {
        var found: Set<String> = []
        for file in files where file.isView && !file.relation.hasPrefix("refresh_") {
            let readsTotals = file.words.contains {
                $0.hasPrefix("refresh_stored_") || $0.hasPrefix("refresh_") && $0.hasSuffix("_totals")
            }
            if readsTotals || file.words.contains(where: { found.contains(String($0)) }) { found.insert(file.relation) }
        }
        return found
    }

    /// Sorts views after the views whose names they contain, otherwise by name.
    ///
    /// Scripts without a view come last.
    static func ordered(_ files: [ViewFile]) -> [ViewFile] {
        let views = files.filter(\.isView).sorted { $0.name < $1.name }
        var order: [ViewFile] = []
        var seen: Set<String> = []
        func visit(_ view: ViewFile) {
            guard seen.insert(view.relation).inserted else { return }
            for needed in views where view.words.contains(Substring(needed.relation)) { visit(needed) }
            order.append(view)
        }
        views.forEach(visit)
        return order + files.filter { !$0.isView }.sorted { $0.name < $1.name }
    }
}
