import JobPlan
import Ledger
import LedgerSchema
import Postgres
import StrictJSON

extension ActionLedger {
    /// Rows that are read at a time.
    private static let verifiedRows: Int64 = 10_000

    /// Compares the rows of a batch with its hash, so that no row is sent that the plan did not show.
    ///
    /// - Returns: `false` if the hash can no longer be computed, because an erasure has cleared rows.
    /// - Throws: ``ActionRefusal/changed(hash:found:)``, ``Postgres/PostgresError``.
    func verify(_ batch: ActionBatch) async throws -> Bool {
        let (app, job) = (app, job)
        let found = try await ledger.transaction(.readOnlySnapshot) { connection -> String? in
            var digest = BatchDigest(of: job)
            var last: Int64 = 0
            while true {
                let rows = try connection.run(
                    .plannedRows,
                    [
                        "app": .integer(app.rawValue), "batch": .uuid(batch.id), "after": .bigint(last),
                        "count": .bigint(Self.verifiedRows),
                    ]
                )
                for row in rows {
                    guard try !row.bool("is_cleared") else { return nil }
                    last = try row.int64("position")
                    let json = try row.utf8OrNil("parameters").map {
                        ActionParameters(try StrictJSON.parseObject($0), columns: job.action.columns).bytes
                    }
                    digest.add(last, json)
                }
                if rows.count < Self.verifiedRows { return digest.finish() }
            }
        }
        guard let found else { return false }
        guard found == batch.sha256 else { throw ActionRefusal.changed(hash: batch.sha256, found: found) }
        return true
    }
}
