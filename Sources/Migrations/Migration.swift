import Basics
import Hashing
import Ledger

/// A file of `sql/migrations`.
struct Migration: Sendable {
    /// One statement of a file that runs outside a transaction.
    enum IndexStatement: Equatable, Sendable {
        case create(NewIndex)
        case drop(index: String)
    }

    /// An index that a file builds.
    struct NewIndex: Equatable, Sendable {
        /// The most bytes of a name, so that ``of(_:)`` is at most as long as PostgreSQL allows.
        fileprivate static let longestName = 58

        let name: String
        /// `INDEX` or `UNIQUE INDEX`.
        let kind: String
        let table: String
        /// The columns, and what follows them.
        let definition: String

        /// The part of the index on one partition of its table.
        func of(_ partition: String) -> NewIndex {
            NewIndex(
                name: name + partition.dropFirst(table.count),
                kind: kind,
                table: partition,
                definition: definition
            )
        }
    }

    let name: String
    let text: String
    let checksum: String
    /// The statements of a file that builds or drops indexes concurrently; `nil` for a file that runs in a transaction.
    let indexStatements: [IndexStatement]?

    /// - Throws: ``LedgerError/invariant(_:)`` if a file that builds indexes concurrently contains another statement.
    init(name: String, text: String) throws(LedgerError) {
        self.name = name
        self.text = text
        checksum = SHA256.digest(of: Array(text.utf8)).hexadecimal
        // Of most files, the lines are not looked at.
        guard text.mentions("INDEX CONCURRENTLY"), case let code = Self.withoutComments(text),
            code.mentions("INDEX CONCURRENTLY")
        else {
            indexStatements = nil
            return
        }
        var statements: [IndexStatement] = []
        for part in code.split(separator: ";") {
            let words = part.split { $0.isWhitespace }
            guard !words.isEmpty else { continue }
            guard let statement = Self.indexStatement(words) else {
                throw .invariant(
                    "sql/migrations/\(name) builds indexes concurrently and may contain only CREATE INDEX CONCURRENTLY IF NOT EXISTS (names of at most \(NewIndex.longestName) bytes) and DROP INDEX CONCURRENTLY IF EXISTS"
                )
            }
            statements.append(statement)
        }
        indexStatements = statements
    }

    private static func withoutComments(_ text: String) -> String {
        text.lines.map { line in line.firstRange(of: "--").map { line[..<$0.lowerBound] } ?? line }
            .joined(separator: "\n")
    }

    private static func indexStatement(_ words: [Substring]) -> IndexStatement? {
        let rest = { (begin: String) in
            let begin = begin.split(separator: " ")
            return words.starts(with: begin) ? Array(words.dropFirst(begin.count)) : []
        }
        for kind in ["INDEX", "UNIQUE INDEX"] {
            let rest = rest("CREATE \(kind) CONCURRENTLY IF NOT EXISTS")
            guard rest.count > 3, rest[1] == "ON", rest[0].utf8.count <= NewIndex.longestName else { continue }
            let definition = rest[3...].joined(separator: " ")
            return .create(
                NewIndex(name: String(rest[0]), kind: kind, table: String(rest[2]), definition: definition)
            )
        }
        let dropped = rest("DROP INDEX CONCURRENTLY IF EXISTS")
        return dropped.count == 1 ? .drop(index: String(dropped[0])) : nil
    }
}
