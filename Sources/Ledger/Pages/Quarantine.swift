import AppStoreModel
import LedgerSchema
import Postgres

/// Distinguishes new rejected records from those that the ledger already has.
///
/// Two rejected records are the same if they have the same reason and the same claimed identity
/// (``LedgerSchema/RejectedRecord/identity``), in any job, stream and run. The ledger knows a record until it is
/// resolved. A known record does not stop a run again.
struct Quarantine {
    let origin: RowOrigin

    /// The order in which every page stores its rejects, so that two pages with the same rejects do not deadlock.
    static func precedes(_ left: RejectedRecord, _ right: RejectedRecord) -> Bool {
        left.identity == right.identity
            ? left.sha256.lexicographicallyPrecedes(right.sha256)
            : left.identity.lexicographicallyPrecedes(right.identity)
    }

    /// Whether the record was rejected before.
    ///
    /// Call this before the record is stored.
    func knows(_ record: RejectedRecord, on connection: borrowing PostgresConnection) throws(PostgresError) -> Bool {
        try connection.run(.isKnownReject, place(of: record), identity(of: record))[0].bool("known")
    }

    /// Adds a record that was just stored in `rejected_records`.
    func remember(_ record: RejectedRecord, on connection: borrowing PostgresConnection) throws(PostgresError) {
        _ = try connection.run(.rememberReject, place(of: record), identity(of: record))
    }

    /// Whether an operator has dismissed the record.
    ///
    /// Call this after the record is stored.
    func isDismissed(_ record: RejectedRecord, on connection: borrowing PostgresConnection) throws(PostgresError)
        -> Bool
    {
        try connection.run(.isDismissedReject, place(of: record))[0].bool("dismissed")
    }

    private func place(of record: RejectedRecord) -> KeyValuePairs<String, Cell> {
        [
            "app": .integer(origin.app.rawValue), "job": .text(origin.job), "stream": .text(origin.stream.rawValue),
            "reason": .text(record.reason), "hash": .bytea(record.sha256),
        ]
    }

    private func identity(of record: RejectedRecord) -> KeyValuePairs<String, Cell> {
        ["identity": .bytea(record.identity)]
    }
}
