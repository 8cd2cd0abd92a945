package import JobSyntax
package import Ledger
import Postgres

extension Ledger {
    /// Counts the IDs of a job's query, and checks them as a run does.
    ///
    /// - Throws: ``BadListedID``, ``BadListQuery``, ``Postgres/PostgresError``.
    package func countListed(by sql: String, of kind: IDKind) async throws -> IDCount {
        try await transaction(.readOnlySnapshot) { connection in
            try connection.script(Self.defaultPlanner)
            let row = try BadListQuery.translating(kind) {
                try UserTables.first(on: connection) { connection in
                    // The line feed ends a possible comment at the end of the query.
                    try connection.run(
                        """
                        SELECT count(listed.id) AS listed, count(DISTINCT listed.id::text) AS kept, count(*) - count(listed.id) AS nulls,
                               left(min(listed.id::text) FILTER (WHERE listed.id::text !~ $1), 40) AS bad FROM (\(sql)
                        ) AS listed (id)
                        """,
                        [.text(kind.pattern)]
                    )[0]
                }
            }
            if let found = try row.textOrNil("bad") { throw BadListedID(kind: kind, found: found) }
            let kept = Int(try row.int64("kept"))
            return IDCount(
                distinct: kept,
                duplicates: Int(try row.int64("listed")) - kept,
                nulls: Int(try row.int64("nulls"))
            )
        }
    }

    /// The names in a job's query that both the user and the ledger have.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    package func sharedNames(in sql: String) async throws -> [UserTables.SharedName] {
        try await transaction(.readOnlySnapshot) { connection in try UserTables.sharedNames(in: sql, on: connection) }
    }
}
