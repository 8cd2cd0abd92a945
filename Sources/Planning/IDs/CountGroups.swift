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
                "SELECT count(DISTINCT group_id) AS groups FROM customer_groups WHERE app_id = $1",
                [.integer(app.rawValue)]
            )
            return Int(try groups[0].int64("groups"))
        }
    }
}
