import Basics
package import Ledger
import Postgres

/// Brings a schema to the version of the SQL files; forward only.
package struct Migrator: Sendable {
    let ledger: Ledger
    let directory: SQLDirectory

    package init(ledger: Ledger, directory: SQLDirectory) {
        self.ledger = ledger
        self.directory = directory
    }

    /// The changes of ``migrate(partitions:)``.
    package struct Report: Sendable {
        /// Whether the schema had no migrations before.
        package fileprivate(set) var isNew = false
        /// The applied migrations, in order.
        package fileprivate(set) var applied: [String] = []
        /// Indexes that were built concurrently.
        package fileprivate(set) var indexesBuilt: [String] = []
        /// Indexes that were dropped concurrently, without invalid ones that were built again.
        package fileprivate(set) var indexesDropped: [String] = []
        /// Files of `sql/functions` and `sql/comments` that were new or had changed.
        package fileprivate(set) var definitions: [String] = []
        package fileprivate(set) var views = ViewChanges.Report()
        /// How many hash partitions each of the large tables was given; `nil` if the tables stay as they were.
        package fileprivate(set) var partitions: Int?

        /// Whether the schema was already up to date.
        package var changedNothing: Bool {
            applied.isEmpty && indexesBuilt.isEmpty && indexesDropped.isEmpty && definitions.isEmpty
                && views.made.isEmpty && views.dropped.isEmpty && partitions == nil
        }
    }

    /// Applies the missing files of `migrations` in order, then the changed files of `functions` and `comments`, then creates
    /// the new and changed views of `views`.
    ///
    /// Files run in one transaction as far as possible. A file that builds indexes concurrently cannot run in a
    /// transaction: earlier files are committed first, and after a kill the next call continues with it. Only one call
    /// at a time works on a schema; another waits up to ``Ledger/longLockTimeout``. Views with sums show what they
    /// showed before, until a refresh; see ``Ledger/refreshRedefinedViews()``.
    ///
    /// - Parameter partitions: How many hash partitions each of the large tables of an empty ledger gets; in
    ///   ``Partitioning/counts``. With `nil` the tables stay as they are; a new ledger's tables have none.
    /// - Throws: ``LedgerError`` if an applied file has changed, the schema is newer, or the number of partitions is
    ///   decided; ``LockTimeout``; ``Postgres/PostgresError``.
    package func migrate(partitions: Int? = nil) async throws -> Report {
        ledger.watch.forget()
        let migrations = try migrationFiles()
        let definitions = try Definitions(directory: directory)
        let views = ViewFile.ordered(
            try directory.files(in: directory.views).flatMap { ViewFile.views(in: $0.name, $0.text) }
        )
        return try await ledger.pages.namingHolders {
            do {
                return try await ledger.pages.pool.withConnection { connection in
                    let lock = try MigrationLock(ledger: ledger, on: connection)
                    let partitioning = partitions.map(Partitioning.init)
                    let report = try apply(migrations, definitions, views, partitioning, under: lock, on: connection)
                    try lock.release()
                    return report
                }
            } catch SQLState.lockNotAvailable {
                // Changing a table or view also waits for its readers.
                throw LockTimeout(purpose: "a lock that changes the schema", limit: nil, scope: .schemaWithReaders)
            }
        }
    }

    private func apply(
        _ migrations: [Migration],
        _ definitions: Definitions,
        _ views: [ViewFile],
        _ partitioning: Partitioning?,
        under lock: borrowing MigrationLock,
        on connection: borrowing PostgresConnection
    ) throws -> Report {
        var report = Report()
        let replaced = try ReplacedMigrations(directory: directory, migrations: migrations)
        let known = try replaced.named(in: try Self.hasVersions(connection) ? try Self.applied(connection) : [:])
        try Self.check(known, against: migrations, schema: ledger.schema)
        report.isNew = known.isEmpty
        if let partitioning, !report.isNew {
            // Refused before anything is changed.
            _ = try connection.transaction(.readCommitted) { connection in
                try partitioning.isNeeded(in: ledger.schema, on: connection)
            }
        }
        let missing = migrations.filter { known[$0.name] == nil }
        if missing.isEmpty, partitioning == nil, try definitions.changed(on: connection).isEmpty,
            let unchanged = try ViewChanges(files: views).unchanged(on: connection)
        {
            report.views = unchanged
            return report
        }
        var steps = MigrationStep.steps(of: missing)
        // The views are created in the transaction of the last files, if there is one.
        if case .together = steps.last {} else { steps.append(.together([])) }
        for (place, step) in steps.enumerated() {
            switch step {
            case .together(let files):
                let isLast = place == steps.count - 1
                let made = try transaction(on: connection) { connection -> Finished? in
                    try Self.record(replaced, by: migrations.first, on: connection)
                    for file in files {
                        try connection.script(file.text)
                        crashPoint(.migrationApplied)
                        try Self.record(file, on: connection)
                    }
                    let made = isLast ? try finish(definitions, views, partitioning, on: connection) : nil
                    try lock.check()
                    return made
                }
                report.applied += files.map(\.name)
                if let made {
                    report.definitions = made.definitions
                    report.views = made.views
                    report.partitions = made.partitions
                }
            case .apart(let file):
                try applyApart(file, &report, under: lock, on: connection)
            }
        }
        return report
    }

    private typealias Finished = (definitions: [String], views: ViewChanges.Report, partitions: Int?)

    /// Applies the changed functions and comments, partitions the large tables if that is still to be done, and creates the
    /// new and changed views.
    private func finish(
        _ definitions: Definitions,
        _ files: [ViewFile],
        _ partitioning: Partitioning?,
        on connection: borrowing PostgresConnection
    ) throws -> Finished {
        let changed = try definitions.apply(on: connection)
        let views = ViewChanges(files: files)
        guard let partitioning, try partitioning.isNeeded(in: ledger.schema, on: connection) else {
            try Partitioning.completeTriggers(on: connection)
            return (changed, try views.apply(on: connection), nil)
        }
        return (changed, try views.apply(replacingTables: partitioning.apply(on:), on: connection), partitioning.count)
    }

    /// Runs a file that builds indexes concurrently, and records it at the end.
    private func applyApart(
        _ file: Migration,
        _ report: inout Report,
        under lock: borrowing MigrationLock,
        on connection: borrowing PostgresConnection
    ) throws {
        var indexes = ConcurrentIndexes()
        do {
            for statement in file.indexStatements ?? [] {
                try lock.check()
                try indexes.apply(statement, on: connection)
            }
        } catch SQLState.lockNotAvailable {
            throw LockTimeout(
                purpose: "transactions that were open before an index of \(file.name)",
                limit: Ledger.longLockTimeout,
                scope: .schemaWithReaders
            )
        }
        try transaction(on: connection) { connection in
            crashPoint(.migrationApplied)
            try Self.record(file, on: connection)
            try lock.check()
        }
        report.applied.append(file.name)
        report.indexesBuilt += indexes.built
        report.indexesDropped += indexes.dropped
    }

    /// Runs `body` in a transaction that overlaps no other transaction of StoreLedger: see ``LedgerWatch``.
    ///
    /// While it waits for long transactions, new ones wait behind it. So it waits a short time, and lets them go first before it
    /// tries again.
    ///
    /// - Throws: ``LockTimeout`` after ``Ledger/longLockTimeout``, the error of `body`.
    private func transaction<R>(
        on connection: borrowing PostgresConnection,
        _ body: (borrowing PostgresConnection) throws -> R
    ) throws -> R {
        let deadline = ContinuousClock.now + Ledger.longLockTimeout
        while true {
            do {
                return try connection.transaction(.readCommitted) { connection in
                    try ledger.requireSchema(on: connection)
                    _ = try connection.run(.actAsOwner)
                    try connection.script(Self.versionTable)
                    let lock = "LOCK TABLE schema_migrations IN ACCESS EXCLUSIVE MODE"
                    guard try connection.tryLock(lock, within: "250ms") else { throw SchemaInUse() }
                    try connection.script("SET LOCAL lock_timeout = '\(Ledger.defaultLockTimeout)'")
                    return try body(connection)
                }
            } catch is SchemaInUse {
                guard ContinuousClock.now < deadline else {
                    throw LockTimeout(
                        purpose: "transactions that were open before the migration",
                        limit: Ledger.longLockTimeout,
                        scope: .schemaWithReaders
                    )
                }
                try connection.script("SELECT pg_sleep(1)")
            }
        }
    }

    private static func record(_ file: Migration, on connection: borrowing PostgresConnection) throws {
        _ = try connection.run(
            "INSERT INTO schema_migrations (name, checksum) VALUES ($1, $2)",
            [.text(file.name), .text(file.checksum)]
        )
    }

    /// Records the baseline in place of the migrations that it has replaced.
    private static func record(
        _ replaced: ReplacedMigrations,
        by baseline: Migration?,
        on connection: borrowing PostgresConnection
    ) throws {
        let removed = try connection.run(
            "DELETE FROM schema_migrations WHERE name = ANY ($1::text[]) RETURNING name",
            [.textArray(replaced.names)]
        )
        if let baseline, removed.count > 0 { try record(baseline, on: connection) }
    }

    private static func hasVersions(_ connection: borrowing PostgresConnection) throws -> Bool {
        try connection.run(
            "SELECT to_regclass(quote_ident(current_schema()) || '.schema_migrations') IS NOT NULL AS found"
        )[0]
        .bool("found")
    }

    /// Refuses a schema that is missing, older or newer than the SQL files; changes nothing.
    ///
    /// From then on, every transaction of the ledger refuses a schema that was migrated meanwhile.
    ///
    /// - Throws: ``LedgerError/schemaMissing(schema:)``, ``LedgerError/schemaOlder(missing:)`` or a similar error.
    package func check() async throws {
        let migrations = try migrationFiles()
        let replaced = try ReplacedMigrations(directory: directory, migrations: migrations)
        let definitions = try Definitions(directory: directory)
        let schema = ledger.schema
        try await ledger.transaction { [watch = ledger.watch] connection in
            let found = try connection.run(
                "SELECT to_regclass($1) IS NOT NULL AS found",
                [.text("\"\(schema)\".schema_migrations")]
            )
            guard try found[0].bool("found") else { throw LedgerError.schemaMissing(schema: schema) }
            try connection.script(LedgerWatch.schemaLock)
            let known = try replaced.named(in: try Self.applied(connection))
            try Self.check(known, against: migrations, schema: schema)
            let missing = migrations.map(\.name).filter { known[$0] == nil }
            guard missing.isEmpty else { throw LedgerError.schemaOlder(missing: missing) }
            let changed = try definitions.changed(on: connection).map(\.name).filter { $0.hasPrefix("functions/") }
            guard changed.isEmpty else { throw LedgerError.functionsDiffer(schema: schema, files: changed) }
            try watch.remember(on: connection)
        }
    }

    private func migrationFiles() throws -> [Migration] {
        try directory.files(in: directory.migrations).map { try Migration(name: $0.name, text: $0.text) }
    }

    private static let versionTable = """
        CREATE TABLE IF NOT EXISTS schema_migrations (
            name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());
        COMMENT ON TABLE schema_migrations IS 'The files of sql/migrations that were applied to this schema.';
        COMMENT ON COLUMN schema_migrations.name IS 'The file''s name.';
        COMMENT ON COLUMN schema_migrations.checksum IS 'SHA-256 of the file as applied. An applied file is never edited.';
        COMMENT ON COLUMN schema_migrations.applied_at IS 'When it was applied.';
        CREATE TABLE IF NOT EXISTS schema_definitions (
            name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());
        COMMENT ON TABLE schema_definitions IS 'The files of sql/functions and sql/comments that were applied to this schema.';
        COMMENT ON COLUMN schema_definitions.name IS 'The folder and the file''s name.';
        COMMENT ON COLUMN schema_definitions.checksum IS 'SHA-256 of the file. If it changes, migrate applies the file again.';
        COMMENT ON COLUMN schema_definitions.applied_at IS 'When migrate last applied the file.';
        DO $$
        DECLARE
            statement text;
        BEGIN
            FOR statement IN
                SELECT format('GRANT SELECT ON schema_definitions TO %I', pg_get_userbyid(a.grantee))
                  FROM pg_class c, aclexplode(c.relacl) a
                 WHERE c.oid = 'schema_migrations'::regclass AND a.privilege_type = 'SELECT' AND a.grantee NOT IN (0, c.relowner)
            LOOP
                EXECUTE statement;
            END LOOP;
        END $$;
        CREATE TABLE IF NOT EXISTS schema_views (
            name text PRIMARY KEY, checksum text NOT NULL, position integer NOT NULL,
            applied_at timestamptz NOT NULL DEFAULT now(), shows_last_refresh boolean NOT NULL DEFAULT false, row_key text[],
            files_checksum text, defines_refresh boolean NOT NULL DEFAULT false);
        ALTER TABLE schema_views ADD COLUMN IF NOT EXISTS readers text[] NOT NULL DEFAULT '{}';
        COMMENT ON TABLE schema_views IS 'The views of sql/views in this schema.';
        COMMENT ON COLUMN schema_views.name IS 'The view''s name.';
        COMMENT ON COLUMN schema_views.checksum IS 'SHA-256 of the definition. If it changes, migrate recreates the view.';
        COMMENT ON COLUMN schema_views.position IS 'Position in the order of creation. A view comes after the views that it reads.';
        COMMENT ON COLUMN schema_views.applied_at IS 'When migrate last created the view or wrote its comments.';
        COMMENT ON COLUMN schema_views.shows_last_refresh IS 'Whether the view shows the ledger as of the last refresh, because it reads totals, itself or through other views.';
        COMMENT ON COLUMN schema_views.row_key IS 'The columns that identify a row. NULL if the view''s file does not name them.';
        COMMENT ON COLUMN schema_views.files_checksum IS 'SHA-256 of all files of sql/views when migrate last wrote the comments of all views. If no file has changed since, migrate writes none.';
        COMMENT ON COLUMN schema_views.readers IS 'The roles of sql/roles.sql that may read the view, without their prefix.';
        COMMENT ON COLUMN schema_views.defines_refresh IS 'Whether a refresh stores or counts rows by this view. If its definition changes, the next refresh computes everything.';
        """

    private static func applied(_ connection: borrowing PostgresConnection) throws -> [String: String] {
        let rows = try connection.run("SELECT name, checksum FROM schema_migrations")
        var known: [String: String] = [:]
        for row in 0..<rows.count { known[try rows[row].text("name")] = try rows[row].text("checksum") }
        return known
    }

    private static func check(_ known: [String: String], against files: [Migration], schema: String) throws {
        for (name, checksum) in known {
            guard let file = files.first(where: { $0.name == name }) else {
                throw LedgerError.schemaNewer(schema: schema, unknown: name)
            }
            guard file.checksum == checksum else { throw LedgerError.migrationChanged(name: name) }
        }
    }
}

/// A transaction of StoreLedger is open, so the schema must stay as it is.
private struct SchemaInUse: Error {}

/// The files of one transaction, or one file that runs outside a transaction.
private enum MigrationStep {
    case together([Migration])
    case apart(Migration)

    static func steps(of files: [Migration]) -> [MigrationStep] {
        var steps: [MigrationStep] = []
        for file in files {
            if file.indexStatements != nil {
                steps.append(.apart(file))
            } else if case .together(let before) = steps.last {
                steps[steps.count - 1] = .together(before + [file])
            } else {
                steps.append(.together([file]))
            }
        }
        return steps
    }
}
