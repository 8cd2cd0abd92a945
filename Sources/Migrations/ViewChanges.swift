import Basics
import Hashing
import Ledger
import Postgres

/// Updates a schema's views to the files of `sql/views`.
///
/// `CREATE OR REPLACE` cannot remove columns. So a view with a changed definition is dropped and created again, with the
/// views that depend on it, and its grants are restored. An unchanged view is not recreated, because that would wait for
/// its readers. Only its comments are written again, because a migration can change what they are taken from. A new view can be
/// read by the roles that read the others with the same readers.
///
/// A view `refresh_NAME_changes` says what changed rows add to the table `refresh_NAME_totals`. The table is made from the view.
package struct ViewChanges {
    /// The changes of ``apply(on:)``.
    package struct Report: Sendable, Equatable {
        /// Created and recreated views, in order.
        package fileprivate(set) var made: [String] = []
        /// Views that no longer have a file.
        package fileprivate(set) var dropped: [String] = []
        /// The number of unchanged views.
        package fileprivate(set) var unchanged = 0
    }

    /// In the order of ``ViewFile/ordered(_:)``.
    let files: [ViewFile]

    /// Looks for a file that has changed since the last ``apply(replacingTables:on:)``, and for views that were dropped.
    ///
    /// - Returns: The number of views; `nil` if there is something to do.
    /// - Throws: ``Postgres/PostgresError``.
    func unchanged(on connection: borrowing PostgresConnection) throws -> Report? {
        let current = checksums
        let filesChecksum = filesChecksum
        let known = try connection.run(
            """
            SELECT v.name, v.checksum, v.files_checksum,
                   EXISTS (SELECT FROM pg_class c WHERE c.relname = v.name AND c.relkind = 'v'
                              AND c.relnamespace = current_schema()::regnamespace) AS exists
              FROM schema_views v
            """
        )
        guard known.count == current.count else { return nil }
        for row in known {
            guard try row.bool("exists"), try row.textOrNil("files_checksum") == filesChecksum,
                try row.text("checksum") == current[try row.text("name")]
            else { return nil }
        }
        var report = Report()
        report.unchanged = current.count
        return report
    }

    /// The checksum of each view's definition.
    private var checksums: [String: String] {
        Dictionary(uniqueKeysWithValues: files.filter(\.isView).map { ($0.relation, $0.checksum) })
    }

    /// The checksum of all files, with comments.
    private var filesChecksum: String {
        SHA256.digest(of: files.flatMap { Array("\($0.name)\n\($0.text)\n".utf8) }).hexadecimal
    }

    /// Runs inside the migrator's transaction.
    ///
    /// - Parameters:
    ///   - replaceTables: Replaces tables that views read. All views are dropped before and created again after it.
    ///   - connection: Inside the transaction.
    /// - Throws: ``LedgerError/viewInUse(view:by:)``; ``LedgerError/definitionRefused(file:reason:)`` for a file that PostgreSQL
    ///   refuses; ``Postgres/PostgresError``.
    func apply(
        replacingTables replaceTables: ((borrowing PostgresConnection) throws -> Void)? = nil,
        on connection: borrowing PostgresConnection
    ) throws -> Report {
        var report = Report()
        let before = try connection.run("SELECT name FROM schema_views").map { try $0.text("name") }
        var grants = try dropStale(all: replaceTables != nil, on: connection, &report)
        try replaceTables?(connection)
        var kept = Set(
            try connection.run(
                """
                SELECT v.name FROM schema_views v JOIN pg_class c ON c.relname = v.name AND c.relkind = 'v'
                 WHERE c.relnamespace = current_schema()::regnamespace
                """
            ).map { try $0.text("name") }
        )
        for file in files {
            do throws(PostgresError) {
                if file.isView, !kept.contains(file.relation) {
                    try connection.script(file.text)
                    report.made.append(file.relation)
                } else {
                    if file.isView { report.unchanged += 1 }
                    if !file.comments.isEmpty { try connection.script(file.comments) }
                }
            } catch {
                throw error.state.isOfSQLText ? file.refused(error.message) : error
            }
            if let totals = file.totals { grants += try makeTotals(totals, of: file, on: connection, &kept) }
        }
        for grant in grants { try connection.script(grant) }
        try record(on: connection)
        let new = report.made.filter { !before.contains($0) }
        for row in try connection.run(.readerStatements, ["new": .textArray(new)]) {
            try connection.script(try row.text("statement"))
        }
        return report
    }

    /// Makes the table of totals of a view of changes, unless there is one with the view's columns.
    ///
    /// - Parameters:
    ///   - totals: The name of the table.
    ///   - changes: The view.
    ///   - connection: Inside the transaction.
    ///   - kept: The views that are not created again; those that read a table with other columns are removed.
    /// - Returns: Statements that restore the grants of the removed views.
    private func makeTotals(
        _ totals: String,
        of changes: ViewFile,
        on connection: borrowing PostgresConnection,
        _ kept: inout Set<String>
    ) throws -> [String] {
        let columns = try connection.run(
            "SELECT attname FROM pg_attribute WHERE attrelid = quote_ident($1)::regclass AND attnum > 0",
            [.text(changes.relation)]
        ).map { try $0.text("attname") }
        guard let key = changes.rowKey, !key.isEmpty, Set(key).isSubset(of: columns) else {
            throw changes.refused("the comment \"One row for each A, B.\" must name columns of \(changes.relation)")
        }
        let parameters: [Cell] = [.text(changes.relation), .textArray(key)]
        let fits = try connection.run("SELECT coalesce(totals_fit($1, $2::text[]), false) AS fits", parameters)
        guard try !fits[0].bool("fits") else { return [] }
        let dropped = try drop([totals], on: connection)
        kept.subtract(dropped.map(\.name))
        _ = try connection.run("SELECT make_totals($1, $2::text[])", parameters)
        return dropped.flatMap(\.grants)
    }

    /// Writes the list of views.
    private func record(on connection: borrowing PostgresConnection) throws {
        let asOfRefresh = ViewFile.showingLastRefresh(files)
        let views = files.enumerated().filter(\.element.isView)
        _ = try connection.run(
            """
            INSERT INTO schema_views AS v (name, checksum, position, shows_last_refresh, row_key, readers, files_checksum)
            SELECT name, checksum, position::integer, shows_last_refresh::boolean, string_to_array(nullif(row_key, ''), ', '),
                   coalesce(string_to_array(nullif(readers, ''), ', '), '{}'), $7::text
              FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
                   AS f (name, checksum, position, shows_last_refresh, row_key, readers)
            ON CONFLICT (name) DO UPDATE SET checksum = excluded.checksum, position = excluded.position,
                shows_last_refresh = excluded.shows_last_refresh, row_key = excluded.row_key, readers = excluded.readers,
                files_checksum = excluded.files_checksum, applied_at = now()
            """,
            [
                .textArray(views.map(\.element.relation)), .textArray(views.map(\.element.checksum)),
                .textArray(views.map { String($0.offset) }),
                .textArray(views.map { asOfRefresh.contains($0.element.relation) ? "true" : "false" }),
                .textArray(views.map { ($0.element.rowKey ?? []).joined(separator: ", ") }),
                .textArray(views.map { $0.element.readers.joined(separator: ", ") }),
                .text(filesChecksum),
            ]
        )
        _ = try connection.run(
            """
            WITH RECURSIVE used (oid) AS (
                SELECT c.oid FROM pg_class c
                 WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'v'
                   AND (c.relname ~ '^refresh_.*_(changes|to_store)$' OR c.relname = 'notification_deliveries')
                UNION
                SELECT d.refobjid
                  FROM used u JOIN pg_rewrite r ON r.ev_class = u.oid
                  JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
                  JOIN pg_class c ON c.oid = d.refobjid AND c.relkind = 'v'
            ), defining AS (
                SELECT c.relname::text AS name FROM used u JOIN pg_class c USING (oid)
            )
            UPDATE schema_views v SET defines_refresh = NOT v.defines_refresh
             WHERE v.defines_refresh <> (v.name IN (SELECT name FROM defining))
            """
        )
    }

    /// Drops all views, or those that have changed or no longer have a file; dependent views are dropped first.
    ///
    /// - Returns: Statements that restore the lost grants.
    private func dropStale(
        all: Bool,
        on connection: borrowing PostgresConnection,
        _ report: inout Report
    ) throws -> [String] {
        let current = checksums
        let known = try connection.run("SELECT name, checksum FROM schema_views").map { row in
            (name: try row.text("name"), checksum: try row.text("checksum"))
        }
        let stale = known.filter { all || current[$0.name] != $0.checksum }.map(\.name)
        guard !stale.isEmpty else { return [] }
        var grants: [String] = []
        for view in try drop(stale, on: connection) {
            if current[view.name] == nil { report.dropped.append(view.name) } else { grants += view.grants }
        }
        _ = try connection.run("DELETE FROM schema_views WHERE name = ANY ($1::text[])", [.textArray(stale)])
        return grants
    }

    /// Drops views, and the views that read them or the tables; dependent views first.
    ///
    /// - Parameters:
    ///   - relations: Views and tables of the schema; the tables stay.
    ///   - connection: Inside the transaction.
    /// - Returns: The dropped views, each with statements that restore its grants.
    /// - Throws: ``LedgerError/viewInUse(view:by:)``, ``Postgres/PostgresError``.
    private func drop(
        _ relations: [String],
        on connection: borrowing PostgresConnection
    ) throws -> [(name: String, grants: [String])] {
        let doomed = try connection.run(
            """
            WITH RECURSIVE standing (oid, depth) AS (
                SELECT c.oid, 0 FROM pg_class c
                 WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY ($1::text[])
                UNION
                SELECT r.ev_class, s.depth + 1
                  FROM standing s
                  JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = s.oid
                                  AND d.classid = 'pg_rewrite'::regclass
                  JOIN pg_rewrite r ON r.oid = d.objid AND r.ev_class <> s.oid
            )
            SELECT c.oid::regclass::text AS view, c.relname AS name, c.relkind = 'm' AS is_materialized,
                   EXISTS (SELECT FROM schema_views v WHERE v.name = c.relname)
                       AND c.relnamespace = current_schema()::regnamespace AS is_ours,
                   coalesce((SELECT array_agg(format('GRANT %s ON %s TO %s', a.privilege_type, c.oid::regclass,
                                       CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END))
                               FROM aclexplode(c.relacl) a WHERE a.grantee <> c.relowner), '{}') AS grants
              FROM (SELECT oid, max(depth) AS depth FROM standing GROUP BY oid) s JOIN pg_class c USING (oid)
             WHERE c.relkind IN ('v', 'm')
             ORDER BY s.depth DESC
            """,
            [.textArray(relations)]
        )
        return try doomed.map { row in
            let view = try row.text("view")
            guard try row.bool("is_ours") else { throw LedgerError.viewInUse(view: relations.sorted()[0], by: view) }
            try connection.script("DROP \(try row.bool("is_materialized") ? "MATERIALIZED " : "")VIEW \(view)")
            return (try row.text("name"), try row.textArray("grants"))
        }
    }
}
