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
        let lines = text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("--") }
        let definition = lines.prefix { !$0.hasPrefix("COMMENT ON") }.joined(separator: "\n")
        isView = definition.contains("CREATE OR REPLACE VIEW")
        rowKey = text.split(separator: "\n").first { $0.hasPrefix(Self.rowKeyPrefix) }.map { line in
            line.dropFirst(Self.rowKeyPrefix.count).prefix { $0 != "." }.split(separator: ", ").map(String.init)
        }
        checksum = SHA256.digest(of: Array(definition.utf8)).hexadecimal
        comments =
            isView
            ? text.split(separator: "\n").drop { !$0.hasPrefix("COMMENT ON") }.joined(separator: "\n") : text
        words = Set(definition.split { !($0.isLetter || $0.isNumber || $0 == "_") })
    }

    private static let rowKeyPrefix = "-- One row for each "

    /// The views that read tables of a refresh, themselves or through other views.
    ///
    /// - Parameter files: In the order of ``ordered(_:)``.
    /// - Returns: The names of the views.
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
