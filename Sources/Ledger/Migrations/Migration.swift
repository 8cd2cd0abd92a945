import Basics
import SignedData

/// A file of `sql/migrations`.
struct Migration: Sendable {
    /// One statement of a file that runs outside a transaction.
    enum IndexStatement: Equatable, Sendable {
        case create(index: String, sql: String)
        case drop(index: String, sql: String)
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
        let lines = text.split(separator: "\n").map { (line: Substring) -> Substring in
            line.firstRange(of: "--").map { line[..<$0.lowerBound] } ?? line
        }
        let code = lines.joined(separator: "\n")
        guard code.contains("INDEX CONCURRENTLY") else {
            indexStatements = nil
            return
        }
        var statements: [IndexStatement] = []
        for part in code.split(separator: ";") {
            let words = part.split { $0.isWhitespace }
            guard !words.isEmpty else { continue }
            guard let statement = Self.indexStatement(words) else {
                throw .invariant(
                    "sql/migrations/\(name) builds indexes concurrently and may contain only CREATE INDEX CONCURRENTLY IF NOT EXISTS and DROP INDEX CONCURRENTLY IF EXISTS"
                )
            }
            statements.append(statement)
        }
        indexStatements = statements
    }

    private static func indexStatement(_ words: [Substring]) -> IndexStatement? {
        let sql = words.joined(separator: " ")
        let rest = { (begin: String) in
            sql.hasPrefix(begin + " ") ? sql.dropFirst(begin.count + 1).split(separator: " ") : []
        }
        for begin in ["CREATE INDEX CONCURRENTLY IF NOT EXISTS", "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS"] {
            let rest = rest(begin)
            if rest.count > 2, rest[1] == "ON" { return .create(index: String(rest[0]), sql: sql) }
        }
        let dropped = rest("DROP INDEX CONCURRENTLY IF EXISTS")
        return dropped.count == 1 ? .drop(index: String(dropped[0]), sql: sql) : nil
    }
}
