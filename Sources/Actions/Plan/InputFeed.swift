import ActionKinds
import Basics
import CSVFormat
import JobFiles
import LedgerSchema
import Postgres

/// Reads the rows of a batch in order, a few at a time, so that an input of any length needs bounded memory.
struct InputFeed {
    /// The source of the rows.
    enum Source {
        case csv(path: String)
        /// External purchase reports as JSON Lines.
        case reports(path: String)
        /// One SELECT, its parameters, and its name for messages.
        case query(String, [Cell], name: String)
        /// The open refund requests, answered by a policy.
        case policy(ConsumptionPolicy)
        /// Answers of the policy to requests that were read before.
        case answers(columns: [String], rows: [InputRow])
        /// The requests that a folder with retention messages needs, compared with what Apple has.
        case retention(RetentionFolder, RetentionCatalog)
        /// One row, without columns or with the values of the job file.
        case none
    }

    /// The number of rows that are copied to the database at a time.
    static let batch = 5_000

    let source: Source
    let app: AppID
    let job: ActionJob

    /// Reads the header, and calls `take` with each batch of rows.
    ///
    /// - Parameters:
    ///   - connection: Inside a transaction.
    ///   - take: Gets at least one row. It is not called for an input without rows.
    /// - Throws: ``ActionInputError``, errors of `take`, ``Postgres/PostgresError``.
    func read(
        on connection: borrowing PostgresConnection,
        _ take: ([InputRow]) throws -> Void
    ) throws -> [String] {
        switch source {
        case .csv(let path): return try Self.readFile(path, for: job, take)
        case .reports(let path): return try Self.readReports(path, for: job, take)
        case .query(let sql, let cells, let name): return try readQuery(sql, cells, name, on: connection, take)
        case .policy(let policy):
            let (columns, rows) = try PolicyInput(policy: policy, app: app, job: job).read(on: connection)
            try take(rows)
            return columns
        case .answers(let columns, let rows):
            try take(rows)
            return columns
        case .retention(let folder, let catalog):
            let subjects = RetentionPlan.subjects(of: folder)
            let uploads = try ActionParameters.uploads(of: subjects, app: app, on: connection)
            let (columns, rows) = try RetentionPlan.rows(folder, catalog, uploads, of: job)
            try take(rows)
            return columns
        case .none:
            let header = try InputHeader([], of: job.name, for: job)
            try take([header.row(1, line: nil, [])])
            return []
        }
    }

    /// Reads a file without a database.
    static func readFile(
        _ path: String,
        for job: ActionJob,
        _ take: ([InputRow]) throws -> Void
    ) throws -> [String] {
        var header: InputHeader?
        var rows: [InputRow] = []
        var position: Int64 = 0
        do {
            try CSVReader(path: path).forEachRecord { record in
                var cells: [String] = []
                cells.reserveCapacity(record.count)
                for place in 0..<record.count { cells.append(trimmed(record.text(place))) }
                guard let header else {
                    let delimiters: [Character] = [";", "\t", "|"]
                    if cells.count == 1, let found = delimiters.first(where: cells[0].contains) {
                        throw CSVError.wrongDelimiter(path: path, line: record.line, found: found)
                    }
                    header = try InputHeader(cells, of: path, for: job)
                    return
                }
                position += 1
                rows.append(header.row(position, line: record.line, cells))
                guard rows.count == batch else { return }
                try take(rows)
                rows.removeAll(keepingCapacity: true)
            }
        } catch let error as CSVError {
            throw ActionInputError.unreadable(error)
        }
        guard let header else { throw ActionInputError.unreadable(.noRecord(path: path)) }
        if !rows.isEmpty { try take(rows) }
        guard position > 0 else { throw ActionInputError.noRows(input: path) }
        return header.columns
    }

    private func readQuery(
        _ sql: String,
        _ cells: [Cell],
        _ name: String,
        on connection: borrowing PostgresConnection,
        _ take: ([InputRow]) throws -> Void
    ) throws -> [String] {
        let names = try Self.columns(of: sql, cells, name, on: connection)
        let header = try InputHeader(names, of: name, for: job)
        let texts = (1...max(1, names.count)).map { "coalesce(c\($0)::text, '')" }.joined(separator: ", ")
        let labels = (1...max(1, names.count)).map { "c\($0)" }.joined(separator: ", ")
        var position: Int64 = 0
        try Self.translating(name) {
            _ = try connection.runOnce(
                """
                DECLARE stage_input NO SCROLL CURSOR FOR SELECT ARRAY[\(texts)] AS input FROM (\(sql)
                ) AS input_rows (\(labels))
                """,
                cells
            )
        }
        while true {
            let fetched = try Self.translating(name) {
                try connection.runOnce("FETCH FORWARD \(Self.batch) FROM stage_input", [])
            }
            guard fetched.count > 0 else { break }
            let rows = try fetched.map { row in
                position += 1
                return header.row(position, line: nil, try row.textArray("input").map(Self.trimmed))
            }
            try take(rows)
        }
        try connection.script("CLOSE stage_input")
        guard position > 0 else { throw ActionInputError.noRows(input: name) }
        return header.columns
    }

    /// The columns of a user's query; messages call the query `name`.
    static func columns(
        of sql: String,
        _ cells: [Cell],
        _ name: String,
        on connection: borrowing PostgresConnection
    ) throws -> [String] {
        // The line feed ends a possible comment at the end of the query.
        try translating(name) {
            try connection.runOnce("SELECT * FROM (\(sql)\n) AS input_rows LIMIT 0", cells).columnLabels
        }
    }

    /// Converts PostgreSQL errors about a user's query; messages call the query `name`.
    static func translating<R>(_ name: String, _ query: () throws -> R) throws -> R {
        do {
            return try query()
        } catch let error as PostgresError where ["42", "22"].contains(error.state.conditionClass) {
            throw ActionInputError.query(name: name, message: error.message)
        } catch let error as PostgresError where error.state == .refusedInput {
            throw ActionInputError.refused(name: name, reason: error.message)
        }
    }

    /// The cell without the blanks around it; U+0000, which PostgreSQL cannot store, becomes U+FFFD.
    static func trimmed(_ cell: String) -> String {
        let text = String(decoding: Blanks.trimmed(Array(cell.utf8)[...]), as: UTF8.self)
        guard text.utf8.contains(0) else { return text }
        let scalars = text.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }
        return String(String.UnicodeScalarView(scalars))
    }
}
