import FoundationEssentials
import LedgerTables
import Postgres
import SignedData
import Workers

/// Brings a schema to the version of the SQL files; forward only.
package struct Migrator: Sendable {
    let ledger: Ledger
    let directory: SQLDirectory

    package init(ledger: Ledger, directory: SQLDirectory) {
        self.ledger = ledger
        self.directory = directory
    }

    /// What ``migrate()`` did.
    package struct Report: Sendable {
        package let applied: [String]
        package let views: [String]
    }

    /// Applies what is missing of `migrations`, then all of `views`, in one transaction.
    ///
    /// Materialised views that are new are empty; see ``Ledger/refreshViews(onlyEmpty:)``.
    /// - Throws: ``LedgerError`` when an applied file has changed or the schema is newer; ``Postgres/PostgresError``.
    package func migrate() async throws -> Report {
        let migrations = try migrationFiles()
        let views = ViewFile.ordered(
            try directory.files(in: directory.views).map { ViewFile(name: $0.name, text: $0.text) }
        )
        let schema = ledger.schema
        return try await ledger.pool.withConnection { connection in
            try connection.transaction(.readCommitted) { connection in
                // One migrator at a time for each schema: `CREATE SCHEMA` is raced too. The other may take long.
                try connection.script("SET LOCAL lock_timeout = 0")
                _ = try connection.run(
                    "SELECT pg_advisory_xact_lock(hashtextextended('storeledger ' || $1, 0))",
                    [.text(schema)]
                )
                try connection.script("SET LOCAL lock_timeout = '30s'")
                // IF NOT EXISTS would ask for the right to create schemas even where there is nothing to create.
                let found = try connection.run(
                    "SELECT to_regnamespace(quote_ident($1)) IS NOT NULL AS found",
                    [.text(schema)]
                )
                if try !found[0].bool("found") { try connection.script("CREATE SCHEMA \"\(schema)\"") }
                try connection.script(Self.versionTable)
                let known = try Self.applied(connection)
                try Self.check(known, against: migrations, schema: schema)
                let missing = migrations.filter { known[$0.name] == nil }
                for migration in missing {
                    try connection.script(migration.text)
                    crashPoint(.migrationApplied)
                    _ = try connection.run(
                        "INSERT INTO schema_migrations (name, checksum) VALUES ($1, $2)",
                        [.text(migration.name), .text(migration.checksum)]
                    )
                }
                try ViewChanges(files: views).apply(on: connection)
                return Report(applied: missing.map(\.name), views: views.map(\.name))
            }
        }
    }

    /// Refuses a schema that is missing, older or newer than the SQL files; changes nothing.
    ///
    /// - Throws: ``LedgerError/schemaMissing(schema:)``, ``LedgerError/schemaOlder(missing:)`` or another of the kind.
    package func check() async throws {
        let migrations = try migrationFiles()
        let schema = ledger.schema
        try await ledger.persistently { connection in
            let found = try connection.run(
                "SELECT to_regclass($1) IS NOT NULL AS found",
                [.text("\"\(schema)\".schema_migrations")]
            )
            guard try found[0].bool("found") else { throw LedgerError.schemaMissing(schema: schema) }
            let known = try Self.applied(connection)
            try Self.check(known, against: migrations, schema: schema)
            let missing = migrations.map(\.name).filter { known[$0] == nil }
            guard missing.isEmpty else { throw LedgerError.schemaOlder(missing: missing) }
        }
    }

    private struct Migration: Sendable {
        let name: String
        let text: String
        let checksum: String
    }

    private func migrationFiles() throws -> [Migration] {
        try directory.files(in: directory.migrations).map {
            Migration(name: $0.name, text: $0.text, checksum: SHA256.digest(of: Array($0.text.utf8)).hexadecimal)
        }
    }

    private static let versionTable = """
        CREATE TABLE IF NOT EXISTS schema_migrations (
            name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());
        COMMENT ON TABLE schema_migrations IS 'The files of sql/migrations this schema has been through.';
        COMMENT ON COLUMN schema_migrations.name IS 'The file''s name.';
        COMMENT ON COLUMN schema_migrations.checksum IS 'Of the file as it was applied; an applied file is never edited.';
        COMMENT ON COLUMN schema_migrations.applied_at IS 'When it was applied.';
        CREATE TABLE IF NOT EXISTS schema_views (
            name text PRIMARY KEY, checksum text NOT NULL, position integer NOT NULL, is_materialized boolean NOT NULL,
            applied_at timestamptz NOT NULL DEFAULT now(), refreshed_at timestamptz, refresh_milliseconds bigint,
            row_count bigint);
        COMMENT ON TABLE schema_views IS 'The views that sql/views made in this schema, and when the materialised ones were filled.';
        COMMENT ON COLUMN schema_views.name IS 'The view''s name.';
        COMMENT ON COLUMN schema_views.checksum IS 'Of the definition it was made from; with another it is made anew.';
        COMMENT ON COLUMN schema_views.position IS 'Place in the order of making: after the views it stands on.';
        COMMENT ON COLUMN schema_views.is_materialized IS 'Whether it keeps rows of its own, which refresh_views() brings up to date.';
        COMMENT ON COLUMN schema_views.applied_at IS 'When migrate last made it or left it as it was.';
        COMMENT ON COLUMN schema_views.refreshed_at IS 'The moment of the ledger that its rows show; NULL while it was never filled.';
        COMMENT ON COLUMN schema_views.refresh_milliseconds IS 'How long the last refresh took.';
        COMMENT ON COLUMN schema_views.row_count IS 'How many rows it had then.';
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
