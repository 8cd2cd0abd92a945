import Basics
import JobPlan
import Ledger
import LedgerSchema
import Postgres
import SignedData
import StrictJSON

/// How much of a batch could be compared with its plan.
enum BatchComparison: Sendable {
    /// Every row.
    case complete
    /// Every row that no erasure has cleared.
    case withoutErased
    /// None: an erasure has cleared rows of a batch that an earlier version planned.
    case impossible
}

extension ActionLedger {
    /// Rows that are read at a time.
    private static let comparedRows: Int64 = 10_000

    /// Compares the rows of a batch with what was planned, so that no row is sent that the plan did not show.
    ///
    /// The hash of the batch covers the values of all rows. The hash of each row also covers its verdict, its input and its token, and is
    /// compared after an erasure of other rows too.
    ///
    /// - Returns: How much could be compared.
    /// - Throws: ``ActionRefusal/changed(hash:found:)``, ``ActionRefusal/changedRow(hash:position:)``, ``Postgres/PostgresError``.
    func compare(_ batch: ActionBatch) async throws -> BatchComparison {
        let found = try await ledger.transaction(.readOnlySnapshot) { connection in
            try readRows(of: batch, on: connection)
        }
        guard found.hasErased || found.sha256 == batch.sha256 else {
            throw ActionRefusal.changed(hash: batch.sha256, found: found.sha256)
        }
        guard let salted = batch.saltedSHA256 else { return found.hasErased ? .impossible : .complete }
        guard found.changedPosition == nil, found.saltedSHA256 == salted else {
            throw ActionRefusal.changedRow(hash: batch.sha256, position: found.changedPosition)
        }
        return found.hasErased ? .withoutErased : .complete
    }

    private func readRows(of batch: ActionBatch, on connection: borrowing PostgresConnection) throws -> PlannedRows {
        var digest = BatchDigest(of: job)
        var salted = SHA256()
        var (last, hasErased, changed) = (Int64(0), false, Int64?.none)
        while true {
            let rows = try connection.run(
                .plannedRows,
                [
                    "app": .integer(app.rawValue), "batch": .uuid(batch.id), "after": .bigint(last),
                    "count": .bigint(Self.comparedRows),
                ]
            )
            for row in rows {
                last = try row.int64("position")
                let json = try row.utf8OrNil("parameters").map {
                    ActionParameters(try StrictJSON.parseObject($0), columns: job.action.columns).bytes
                }
                digest.add(last, json)
                let hash = try row.bytesOrNil("salted_sha256")
                salted.update(hash ?? [])
                // An erasure leaves the hash. A row without one was added later.
                if try row.bool("is_erased"), hash != nil || batch.saltedSHA256 == nil {
                    hasErased = true
                } else if try row.boolOrNil("is_unchanged") != true, changed == nil {
                    changed = last
                }
            }
            guard rows.count < Self.comparedRows else { continue }
            return PlannedRows(
                sha256: digest.finish(),
                saltedSHA256: salted.finish().hexadecimal,
                hasErased: hasErased,
                changedPosition: changed
            )
        }
    }
}

/// What the rows of a batch are now.
private struct PlannedRows {
    /// Comparable with ``ActionBatch/sha256`` only without erased rows.
    let sha256: String
    /// Comparable with ``ActionBatch/saltedSHA256``.
    let saltedSHA256: String
    let hasErased: Bool
    /// The first row that is not as it was planned; `nil` if there is none.
    let changedPosition: Int64?
}
