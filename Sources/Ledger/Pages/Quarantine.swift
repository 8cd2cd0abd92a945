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
        try connection.run(Self.isKnown, parameters(of: record))[0].bool("known")
    }

    /// Adds a record that was just stored in `rejected_records`.
    func remember(_ record: RejectedRecord, on connection: borrowing PostgresConnection) throws(PostgresError) {
        _ = try connection.run(Self.insertKnown, parameters(of: record))
    }

    /// Whether an operator has dismissed the record.
    ///
    /// Call this after the record is stored.
    func isDismissed(_ record: RejectedRecord, on connection: borrowing PostgresConnection) throws(PostgresError)
        -> Bool
    {
        try connection.run(Self.isDismissed, Array(parameters(of: record).dropLast()))[0].bool("dismissed")
    }

    private func parameters(of record: RejectedRecord) -> [Cell] {
        [
            .integer(origin.app.rawValue), .text(origin.job), .text(origin.stream.rawValue), .text(record.reason),
            .bytea(record.sha256), .bytea(record.identity),
        ]
    }

    /// A reject that is older than the table `quarantined_records` is identified only by its bytes.
    private static let isKnown = """
        SELECT EXISTS (SELECT FROM quarantined_records q JOIN rejected_records r USING (app_id, record_id)
                        WHERE q.app_id = $1::integer AND q.reason = $4::text AND q.identity = $6::bytea AND r.resolved_at IS NULL)
            OR EXISTS (SELECT FROM rejected_records
                        WHERE app_id = $1 AND job = $2::text AND stream = $3::text AND sha256 = $5::bytea AND reason = $4
                          AND resolved_at IS NULL) AS known
        """

    private static let isDismissed = """
        SELECT EXISTS (SELECT FROM rejected_records
                        WHERE app_id = $1::integer AND job = $2::text AND stream = $3::text AND reason = $4::text
                          AND sha256 = $5::bytea AND dismissed_at IS NOT NULL) AS dismissed
        """

    private static let insertKnown = """
        INSERT INTO quarantined_records (app_id, reason, identity, record_id)
        SELECT app_id, reason, $6::bytea, record_id FROM rejected_records
         WHERE app_id = $1::integer AND job = $2::text AND stream = $3::text AND reason = $4::text AND sha256 = $5::bytea
        ON CONFLICT (app_id, reason, identity) DO UPDATE SET record_id = excluded.record_id
        """
}
