import FoundationEssentials
import Postgres
import TestSupport

/// What processes must not leave behind.
struct Leftovers {
    let book: LedgerBook
    let workers: [Worker]
    /// Of the published files.
    let directory: String
    let secrets: [String]
    let postgresWasKilled: Bool

    /// I14: dead processes leave nothing in the server.
    func leaks() async throws -> [String] {
        let sessions = """
            SELECT application_name || ' ' || coalesce(state, '') FROM pg_stat_activity
             WHERE datname = current_database() AND application_name LIKE 'w%'
            """
        var left = try await book.column(sessions)
        for _ in 1...50 where !left.isEmpty {
            try await Task.sleep(for: .milliseconds(100))
            left = try await book.column(sessions)
        }
        var sentences = left.map { "I14: a session is left: \($0)" }
        // A killed server cleans up later.
        if !postgresWasKilled {
            sentences += try await book.column(
                "SELECT relname FROM pg_class WHERE relpersistence = 't' AND relkind = 'r' AND relname LIKE 'stage%'"
            ).map { "I14: a temporary table is left: \($0)" }
        }
        return sentences
    }

    /// I16: no secret in the output of any process, in the files, or in the database.
    func toldSecrets() async throws -> [String] {
        var places = workers.map { ($0.name, Array(($0.process.output + $0.process.errors).utf8)) }
        let files = FileManager.default
        for name in try files.subpathsOfDirectory(atPath: directory) {
            let bytes = (try? Data(contentsOf: URL(filePath: directory + "/" + name))) ?? Data()
            places.append((name, Array(bytes)))
        }
        var sentences: [String] = []
        for (place, bytes) in places {
            let text = String(decoding: bytes, as: UTF8.self)
            for secret in secrets where text.contains(secret) { sentences.append("I16: \(place) tells a secret") }
        }
        // `bytea` prints as hexadecimal digits.
        let tables = try await book.column("SELECT tablename FROM pg_tables WHERE schemaname = 'appstore'")
        for table in tables {
            let found = try await book.with { [secrets] connection in
                try connection.run(
                    """
                    SELECT count(*) AS n FROM \(table) t WHERE EXISTS (
                        SELECT FROM unnest($1::text[]) s
                         WHERE position(s IN t::text) > 0 OR position(encode(convert_to(s, 'UTF8'), 'hex') IN t::text) > 0)
                    """,
                    [.textArray(secrets)]
                )[0].int64("n")
            }
            if found > 0 { sentences.append("I16: the table \(table) tells a secret") }
        }
        return sentences
    }
}
