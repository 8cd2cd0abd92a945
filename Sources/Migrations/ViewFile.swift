import Basics
import Hashing
import Ledger
import Postgres

/// A view of a file of `sql/views`; or a file without a view, a script.
///
/// A file can have several views: the one with the file's name at the end, and before it the views of changes whose totals it reads.
struct ViewFile: Sendable {
    /// The file's name.
    let name: String
    /// The view's statement, with its comments if it is the last one of the file; for a script, the whole file.
    let text: String
    /// The view's name.
    let relation: String
    let isView: Bool
    /// The columns that identify a row, from the comment "One row for each A, B." above the view or else at the top of the file; `nil`
    /// without it.
    let rowKey: [String]?
    /// The roles that may read the view, from the comment "Readers: A, B." at the top of the file; empty without it, and for a view of
    /// changes.
    let readers: [String]
    /// The comments of a view without its definition; for a script, the whole text.
    let comments: String
    /// The checksum of the definition, without comments.
    let checksum: String
    fileprivate let words: Set<Substring>

    /// - Parameters:
    ///   - name: The file's name.
    ///   - text: The file's content.
    /// - Returns: The views in the order of the file, or the script.
    static func views(in name: String, _ text: String) -> [ViewFile] {
        let lines = text.lines
        var parts: [ArraySlice<Substring>] = []
        var start = 0
        for (place, line) in lines.enumerated() where line.utf8.starts(with: creation.utf8) {
            let above = lines[start..<place].lastIndex { !$0.isSQLComment }.map { $0 + 1 } ?? start
            if above > start { parts.append(lines[start..<above]) }
            start = above
        }
        parts.append(lines[start...])
        let top = lines.prefix(while: \.isSQLComment)
        return parts.map { ViewFile(name: name, lines: Array($0), top: top, isLast: $0.endIndex == lines.endIndex) }
    }

    private init(name: String, lines: [Substring], top: ArraySlice<Substring>, isLast: Bool) {
        self.name = name
        text = lines.joined(separator: "\n")
        let code = lines.filter { !$0.isSQLComment }
        let isComment = { (line: Substring) in line.utf8.starts(with: "COMMENT ON".utf8) }
        let definition = code.prefix { !isComment($0) }
        let first = definition.first { $0.utf8.starts(with: Self.creation.utf8) }
        isView = first != nil
        relation = first.map { String($0.words[4]) } ?? String(name.dropLast(".sql".count))
        // The comment above the first view is the top of the file.
        let above = Self.lists(after: "-- One row for each ", in: lines.prefix(while: \.isSQLComment)).last
        rowKey = above ?? Self.lists(after: "-- One row for each ", in: top).first
        readers = isLast ? Self.lists(after: "-- Readers: ", in: top).first ?? [] : []
        checksum = SHA256.digest(of: Array(definition.joined(separator: "\n").utf8)).hexadecimal
        comments = isView ? lines.drop { !isComment($0) }.joined(separator: "\n") : text
        words = Set(definition.lazy.flatMap(\.words))
    }

    private static let creation = "CREATE OR REPLACE VIEW"

    /// The words of the comments that begin with `prefix`, such as "A, B." after it.
    private static func lists(after prefix: String, in comment: ArraySlice<Substring>) -> [[String]] {
        comment.filter { $0.utf8.starts(with: prefix.utf8) }.map { line in
            line.dropFirst(prefix.count).prefix { $0 != "." }.split(separator: ", ").map(String.init)
        }
    }

    func refused(_ reason: String) -> LedgerError { .definitionRefused(file: "views/\(name)", reason: reason) }

    /// The table of totals that is made from this view of changes; `nil` for other views.
    var totals: String? {
        guard relation.hasPrefix("refresh_"), relation.hasSuffix("_changes") else { return nil }
        return relation.dropLast("_changes".count) + "_totals"
    }

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

    /// Whether the view reads another one, or the totals of a view of changes.
    private func reads(_ other: ViewFile) -> Bool {
        words.contains(Substring(other.relation)) || other.totals.map { words.contains(Substring($0)) } ?? false
    }

    /// Sorts views after those that they read, otherwise by name.
    ///
    /// Scripts without a view come last.
    static func ordered(_ files: [ViewFile]) -> [ViewFile] {
        let views = files.filter(\.isView).sorted { $0.relation < $1.relation }
        var order: [ViewFile] = []
        var seen: Set<String> = []
        func visit(_ view: ViewFile) {
            guard seen.insert(view.relation).inserted else { return }
            for needed in views where view.reads(needed) { visit(needed) }
            order.append(view)
        }
        views.forEach(visit)
        return order + files.filter { !$0.isView }.sorted { $0.name < $1.name }
    }
}
