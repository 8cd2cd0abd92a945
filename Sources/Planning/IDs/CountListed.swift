package import JobPlan
package import Ledger
import LedgerSchema
import Postgres

extension Ledger {
    /// The number of distinct IDs of a job's query, and of rows that repeat an ID.
    package func countListed(by sql: String, of kind: IDKind) async throws -> (distinct: Int, duplicates: Int) {
        try await transaction(.readOnlySnapshot) { connection in
            try connection.script(Self.defaultPlanner)
            let row = try BadListQuery.translating(kind) {
                // The line feed ends a possible comment at the end of the query.
                try connection.run(
                    """
                    SELECT count(listed.id::text) AS listed, count(DISTINCT listed.id::text) AS kept FROM (\(sql)
                    ) AS listed (id)
                    """
                )[0]
            }
            let kept = Int(try row.int64("kept"))
            return (kept, Int(try row.int64("listed")) - kept)
        }
    }
}
