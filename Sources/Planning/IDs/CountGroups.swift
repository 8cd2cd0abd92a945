package import Ledger
package import LedgerSchema
import Postgres

extension Ledger {
    /// The number of groups whose members a run requests.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    package func countKnownGroups(of app: AppID) async throws -> Int {
        try await transaction { connection in
            let groups = try connection.run(
                """
                SELECT count(*) AS groups FROM (SELECT group_id FROM customer_groups WHERE app_id = $1
                                                 UNION SELECT group_id FROM group_members WHERE app_id = $1) known
                """,
                [.integer(app.rawValue)]
            )
            return Int(try groups[0].int64("groups"))
        }
    }
}
