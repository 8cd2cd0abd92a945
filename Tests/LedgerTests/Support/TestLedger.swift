import Ledger
import LedgerSchema
import Migrations
import Postgres
import TestSupport
import Testing

/// A ledger in the test's own database, its schema made by the migrator from the repository's SQL files.
struct TestLedger: Sendable {
    let ledger: Ledger
    let app: AppID

    /// The repository's SQL files, found from where this file lies.
    static var sql: SQLDirectory {
        get throws { try SQLDirectory.find(executable: #filePath) }
    }

    /// A ledger whose schema is not there yet.
    static func bare(schema: String = "appstore", sessions: Int = 2) throws -> Ledger {
        Ledger(
            conninfo: ConnectionString(try TemporaryDatabase.conninfo),
            schema: schema,
            sessions: sessions,
            deadline: .seconds(20)
        )
    }

    /// How the large tables are stored.
    enum Layout: CaseIterable, Sendable {
        case plain
        case partitioned

        fileprivate var template: TemporaryDatabase.Template { self == .plain ? .migrated : .partitioned }
        fileprivate var partitions: Int? { self == .plain ? nil : 4 }
    }

    /// A ledger with its schema, in a test whose database may be empty.
    init(sessions: Int = 2, _ layout: Layout = .plain) async throws {
        let isCopy = try await TemporaryDatabase.become(copyOf: layout.template)
        ledger = try Self.bare(sessions: sessions)
        if !isCopy {
            _ = try await Migrator(ledger: ledger, directory: try Self.sql).migrate(partitions: layout.partitions)
        }
        app = try await ledger.app(bundleId: "com.example.game", environment: "Production", appAppleId: 1_234_567_890)
    }

    /// The same ledger as another role, say, sees it.
    init(as ledger: Ledger, app: AppID) {
        self.ledger = ledger
        self.app = app
    }

    /// Another process over the same database.
    func anotherProcess(sessions: Int = 1) throws -> Ledger { try Self.bare(sessions: sessions) }

    /// Runs one statement.
    func run(_ statement: String) async throws {
        try await ledger.transaction { try $0.script(statement) }
    }

    /// What one expression or subquery is, as PostgreSQL prints it.
    func value(_ expression: String) async throws -> String? {
        try await ledger.transaction { try $0.run("SELECT (\(expression))::text AS value")[0].textOrNil("value") }
    }

    func count(_ rest: String) async throws -> Int {
        let text = try await value("SELECT count(*) FROM \(rest)")
        return text.flatMap(Int.init) ?? -1
    }

    /// Each row of a query as PostgreSQL prints a row.
    func rows(_ query: String) async throws -> [String] {
        try await ledger.transaction { connection in
            try connection.run("SELECT q::text AS value FROM (\(query)) q").map { try $0.text("value") }
        }
    }

    /// The lines of the plan with which PostgreSQL has answered a query.
    ///
    /// Without the setting PostgreSQL reads tables of this size as a whole.
    func plan(of query: String) async throws -> [String] {
        try await ledger.transaction { connection in
            try connection.run("SET LOCAL enable_seqscan = off")
            return try connection.run("EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) \(query)").map {
                try $0.text("QUERY PLAN")
            }
        }
    }

    /// The rows that `work` reads in each table, by scans or through indexes.
    ///
    /// Rows of partitions count for their table.
    static func rowsRead(
        on connection: borrowing PostgresConnection,
        by work: (borrowing PostgresConnection) throws -> Void
    ) throws -> [String: Int] {
        let before = try rowsReadSoFar(connection)
        try work(connection)
        return try rowsReadSoFar(connection).merging(before, uniquingKeysWith: -)
    }

    private static func rowsReadSoFar(_ connection: borrowing PostgresConnection) throws -> [String: Int] {
        let rows = try connection.run(
            """
            SELECT regexp_replace(relname, '_p[0-9]+$', '') AS name, sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint AS rows
              FROM pg_stat_xact_user_tables
             WHERE schemaname = 'appstore'
             GROUP BY name
            """
        )
        return Dictionary(uniqueKeysWithValues: try rows.map { (try $0.text("name"), Int(try $0.int64("rows"))) })
    }

    /// Where every row of every table with Apple's records is stored, and by which transaction.
    func rowVersions() async throws -> [String] {
        let tables = Tables.all.map(\.name) + ["signing_headers"]
        return try await rows(
            tables.map { "SELECT '\($0)' AS t, ctid, xmin FROM \($0)" }.joined(separator: " UNION ALL ")
                + " ORDER BY 1, 2"
        )
    }
}

extension Trait where Self == TemporaryDatabase {
    /// A new database for each test, in which the schema `appstore` has every migration.
    static var migratedDatabase: Self { .temporaryDatabase(.migrated) }
}

extension TemporaryDatabase.Template {
    static let migrated = template(.plain)
    fileprivate static let partitioned = template(.partitioned)
}

private func template(_ layout: TestLedger.Layout) -> TemporaryDatabase.Template {
    TemporaryDatabase.Template { conninfo in
        let ledger = Ledger(
            conninfo: ConnectionString(conninfo),
            schema: "appstore",
            sessions: 1,
            deadline: .seconds(20)
        )
        _ = try await Migrator(ledger: ledger, directory: try TestLedger.sql).migrate(partitions: layout.partitions)
    }
}
