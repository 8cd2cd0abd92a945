import ActionKinds
import Basics
import CSVFormat
import Hashing
package import JobFiles
import Ledger
import LedgerSchema
import Postgres

/// Where the rows of a batch come from.
package struct BatchSource: Sendable {
    let feed: InputFeed.Source
    /// The path of the file; `nil` for other sources.
    let fileName: String?
    /// SHA-256 of the file, hexadecimal.
    let fileSHA256: String?

    /// The input of the job file.
    ///
    /// - Throws: ``ActionInputError`` for a file that cannot be read.
    package init(_ input: ActionJob.Input) throws {
        switch input {
        case .csv(let path): try self.init(csv: path)
        case .json(let path):
            self.init(from: .reports(path: path), fileName: path, fileSHA256: try Self.sha256(of: path))
        case .query(let sql): self.init(from: .query(sql, [], name: "input.query"))
        case .policy(let policy): self.init(from: .policy(policy))
        case .folder: throw LedgerError.invariant("a folder is compared with what Apple has")
        case .none: self.init(from: .none)
        }
    }

    /// A folder with retention messages.
    package init(_ folder: RetentionFolder, comparedWith catalog: RetentionCatalog) {
        self.init(from: .retention(folder, catalog), fileName: folder.directory)
    }

    /// A CSV file.
    ///
    /// - Throws: ``ActionInputError`` for a file that cannot be read.
    package init(csv path: String) throws {
        self.init(from: .csv(path: path), fileName: path, fileSHA256: try Self.sha256(of: path))
    }

    private init(from feed: InputFeed.Source, fileName: String? = nil, fileSHA256: String? = nil) {
        self.feed = feed
        self.fileName = fileName
        self.fileSHA256 = fileSHA256
    }

    /// Answers of a policy.
    init(answers: (columns: [String], rows: [InputRow])) {
        self.init(from: .answers(columns: answers.columns, rows: answers.rows))
    }

    /// Whether the job's policy gives the rows their values.
    var isOfPolicy: Bool {
        switch feed {
        case .policy, .answers: true
        case .csv, .reports, .query, .retention, .none: false
        }
    }

    /// The rows of a batch that Apple rejected, or that its data shows as not applied.
    init(rejectedRowsOf batch: ActionBatch, app: AppID) {
        let cells = batch.inputColumns.indices.map { place in
            "input[\(place + 1)] AS \(Self.quoted(batch.inputColumns[place]))"
        }
        let isGrouped = AllActions.type(of: batch.action)?.groupsRows == true
        let lines = """
            (SELECT i.input, i.input_position AS position, r.app_id, r.batch_id, r.state, r.parameters
               FROM action_input_rows i JOIN action_rows r USING (app_id, batch_id, position)) x
            """
        let feed = InputFeed.Source.query(
            """
            SELECT \(cells.joined(separator: ", ")) FROM \(isGrouped ? lines : "action_rows")
             WHERE app_id = $1 AND batch_id = $2 AND state IN ('rejected', 'not_applied')
               AND parameters IS NOT NULL ORDER BY position
            """,
            [.integer(app.rawValue), .uuid(batch.id)],
            name: "the rejected rows of batch \(batch.sha256)"
        )
        self.init(from: feed)
    }

    /// SHA-256 of a file, hexadecimal.
    ///
    /// - Throws: ``ActionInputError`` for a file that cannot be read.
    package static func sha256(of path: String) throws -> String {
        do throws(CSVError) {
            let file = try InputFile(path: path)
            var hash = SHA256()
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                let length = try file.fill(&chunk)
                if length == 0 { return hash.finish().hexadecimal }
                hash.update(chunk.span.extracting(0..<length))
            }
        } catch {
            throw ActionInputError.unreadable(error)
        }
    }

    private static func quoted(_ name: String) -> String {
        "\"" + name.replacing("\"", with: "\"\"") + "\""
    }
}
