import Basics
import Hashing
import Ledger
import Postgres

/// The files of `sql/functions` and `sql/comments`, which are applied again when their text changes.
///
/// Each file can be applied to a schema that already has its definitions (`CREATE OR REPLACE`, `COMMENT ON`). Before a
/// function changes its parameters or disappears, a migration drops it.
struct Definitions: Sendable {
    /// Functions before comments, each in the order of their names.
    let files: [DefinitionFile]

    init(directory: SQLDirectory) throws(LedgerError) {
        files =
            try directory.files(in: directory.functions).map { DefinitionFile(folder: "functions", $0) }
            + directory.files(in: directory.comments).map { DefinitionFile(folder: "comments", $0) }
    }

    /// The files whose text the schema does not have yet.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    func changed(on connection: borrowing PostgresConnection) throws -> [DefinitionFile] {
        var known: [String: String] = [:]
        let isListed = try connection.run(
            "SELECT to_regclass(quote_ident(current_schema()) || '.schema_definitions') IS NOT NULL AS found"
        )[0].bool("found")
        if isListed {
            for row in try connection.run("SELECT name, checksum FROM schema_definitions") {
                known[try row.text("name")] = try row.text("checksum")
            }
        }
        return files.filter { known[$0.name] != $0.checksum }
    }

    /// Applies the changed files inside the migrator's transaction.
    ///
    /// - Throws: ``LedgerError/definitionRefused(file:reason:)`` for a file that PostgreSQL refuses; ``Postgres/PostgresError``.
    func apply(on connection: borrowing PostgresConnection) throws -> [String] {
        let changed = try changed(on: connection)
        guard !changed.isEmpty else { return [] }
        let existing = try connection.run(
            "SELECT oid::text AS oid FROM pg_proc WHERE pronamespace = current_schema()::regnamespace"
        ).map { try $0.text("oid") }
        // A function may name a view, which is created later.
        try connection.script("SET LOCAL check_function_bodies = off")
        for file in changed { try apply(file, on: connection) }
        // Whoever migrates, the owner of the tables owns the functions, because those with SECURITY DEFINER act for it.
        let ownership = try connection.run(
            """
            SELECT format('ALTER FUNCTION %s OWNER TO %I', p.oid::regprocedure, pg_get_userbyid(runs.relowner)) AS statement
              FROM pg_proc p JOIN pg_class runs ON runs.oid = to_regclass('runs') AND runs.relowner <> p.proowner
             WHERE p.pronamespace = current_schema()::regnamespace
            """
        )
        for row in ownership { try connection.script(try row.text("statement")) }
        let rights = try connection.run(.grantNewFunctions, ["existing": .textArray(existing)])
        for row in rights { try connection.script(try row.text("statement")) }
        return changed.map(\.name)
    }

    private func apply(_ file: DefinitionFile, on connection: borrowing PostgresConnection) throws {
        do throws(PostgresError) {
            try connection.script(file.text)
        } catch {
            guard error.state.isOfSQLText else { throw error }
            throw LedgerError.definitionRefused(file: file.name, reason: error.message)
        }
        _ = try connection.run(
            """
            INSERT INTO schema_definitions (name, checksum) VALUES ($1, $2)
            ON CONFLICT (name) DO UPDATE SET checksum = excluded.checksum, applied_at = now()
            """,
            [.text(file.name), .text(file.checksum)]
        )
    }
}

/// A file of `sql/functions` or `sql/comments`.
struct DefinitionFile: Sendable {
    /// The folder and the file's name, such as `functions/erasure.sql`.
    let name: String
    let text: String
    /// SHA-256 of the text.
    let checksum: String

    init(folder: String, _ file: (name: String, text: String)) {
        name = "\(folder)/\(file.name)"
        text = file.text
        checksum = SHA256.digest(of: Array(file.text.utf8)).hexadecimal
    }
}
