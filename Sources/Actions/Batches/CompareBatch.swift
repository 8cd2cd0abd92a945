import Basics
import Ledger
import LedgerSchema
import Postgres

/// How much of a batch could be compared with its plan.
enum BatchComparison: Sendable {
    /// Every row.
    case complete
    /// Every row that no erasure has cleared.
    case withoutErased
}

/// What the rows of a batch are now.
struct RowHashes: Sendable {
    /// Comparable with ``ActionBatch/sha256`` only without erased rows.
    let sha256: String
    /// Comparable with ``ActionBatch/saltedSHA256``.
    let saltedSHA256: String
    let hasErased: Bool
    /// The first row that is not as it was planned; `nil` if there is none.
    let changedPosition: Int64?
}

extension ActionLedger {
    /// Compares the rows of a batch with what was planned, so that no row is sent that the plan did not show.
    ///
    /// The hash of the batch, which the approval names, covers what is sent and what decides an outcome. The hash of each row also covers
    /// its input, and is compared after an erasure of other rows too.
    ///
    /// - Returns: How much could be compared.
    /// - Throws: ``ActionRefusal/changed(hash:found:)``, ``ActionRefusal/changedRow(hash:position:)``, ``Postgres/PostgresError``.
    func compare(_ batch: ActionBatch) async throws -> BatchComparison {
        let found = try await ledger.transaction(.readOnlySnapshot) { connection in
            try hashes(of: batch.id, on: connection)
        }
        guard found.hasErased || batch.parametersSHA256 == nil || found.sha256 == batch.sha256 else {
            throw ActionRefusal.changed(hash: batch.sha256, found: found.sha256)
        }
        guard found.changedPosition == nil, found.saltedSHA256 == batch.saltedSHA256 else {
            throw ActionRefusal.changedRow(hash: batch.sha256, position: found.changedPosition)
        }
        return found.hasErased ? .withoutErased : .complete
    }

    func hashes(of batch: [UInt8], on connection: borrowing PostgresConnection) throws -> RowHashes {
        let row = try connection.run(
            .compareRows,
            [
                "app": .integer(app.rawValue), "batch": .uuid(batch), "identity": .text(BatchDigest.identity(of: job)),
            ]
        )[0]
        return RowHashes(
            sha256: try row.text("rows_sha256"),
            saltedSHA256: try row.text("salted_sha256"),
            hasErased: try row.bool("has_erased"),
            changedPosition: try row.int64OrNil("changed_position")
        )
    }
}
