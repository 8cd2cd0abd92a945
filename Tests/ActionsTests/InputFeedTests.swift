import FoundationEssentials
import JobFiles
import LedgerSchema
import Postgres
import TestSupport
import Testing

@testable import Actions

/// The rows of a file and of a query.
@Suite(.temporaryDatabase)
struct InputFeedTests {
    /// What an input gives: the kept columns, and each row with its position, line and cells.
    private func read(_ source: InputFeed.Source, of job: ActionJob) async throws -> (columns: [String], rows: [String])
    {
        try await TemporaryDatabase.pool(size: 1).withConnection { connection in
            try connection.transaction { connection in
                var rows: [String] = []
                let feed = InputFeed(source: source, app: AppID(rawValue: 1), job: job)
                let columns = try feed.read(on: connection) { some in
                    rows += some.map { row in
                        let line = row.line.map { " line \($0)" } ?? ""
                        return
                            "\(row.position)\(line): \(row.input.joined(separator: "|")), \(row.problem?.rule ?? "valid")"
                    }
                }
                return (columns, rows)
            }
        }
    }

    private func csv(_ text: String, _ body: (InputFeed.Source) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/affected.csv"
            try Data(text.utf8).write(to: URL(filePath: path))
            try await body(.csv(path: path))
        }
    }

    @Test func `a file gives its rows with their lines, trimmed, in order`() async throws {
        let job = try TestJob.of()
        try await csv("original_transaction_id,note\r\n 5 ,\"a\nb\"\r\n\r\nx,\r\n") { source in
            let (columns, rows) = try await read(source, of: job)
            #expect(columns == ["original_transaction_id", "note"])
            #expect(rows == ["1 line 2: 5|a\nb, valid", "2 line 5: x|, original_transaction_id"])
        }
    }

    @Test func `a query gives the same rows as a file, however many there are`() async throws {
        let job = try TestJob.of()
        let sql = "SELECT n AS original_transaction_id, NULL AS note FROM generate_series(1, 12001) n -- a comment"
        let (columns, rows) = try await read(.query(sql, [], name: "input.query"), of: job)
        #expect(columns == ["original_transaction_id", "note"] && rows.count == 12_001)
        #expect(rows.first == "1: 1|, valid" && rows.last == "12001: 12001|, valid")
    }

    @Test func `an input without rows, with another delimiter, or with an error in its query is refused`() async throws
    {
        let job = try TestJob.of()
        try await csv("original_transaction_id;note\n5;\n") { source in
            await #expect(throws: ActionInputError.self) { try await read(source, of: job) }
        }
        let empty = "SELECT 1 AS original_transaction_id WHERE false"
        let none = await #expect(throws: ActionInputError.self) {
            try await read(.query(empty, [], name: "input.query"), of: job)
        }
        #expect(none?.sentence == "input.query: there are no rows. Nothing was planned")
        let wrong = await #expect(throws: ActionInputError.self) {
            try await read(.query("SELECT 1 AS original_transaction_id FROM nowhere", [], name: "input.query"), of: job)
        }
        #expect(
            wrong?.sentence
                == "PostgreSQL does not accept input.query: relation \"nowhere\" does not exist. Nothing was planned"
        )
    }

    @Test func `an action without columns has one row and no input`() async throws {
        let job = try TestJob.of("requestTestNotification: {}", input: nil)
        let (columns, rows) = try await read(.none, of: job)
        #expect(columns.isEmpty && rows == ["1: , valid"])
    }
}
