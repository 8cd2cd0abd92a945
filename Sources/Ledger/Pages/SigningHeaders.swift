import LedgerTables
import Postgres
import Synchronization

/// The first segments of JWS the ledger has numbered: a handful for millions of records.
final class SigningHeaders: Sendable {
    private struct Key: Hashable {
        let app: AppID
        let header: [UInt8]
    }

    private let known = Mutex<[Key: Int32]>([:])
    /// Apple rotates a few certificates a year; more than this is somebody's experiment and is looked up again.
    private static let capacity = 1_024

    /// The number of a header; a new one is stored at once, in a transaction of its own, before any row needs it.
    func number(
        of header: [UInt8],
        app: AppID,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> Int32 {
        let key = Key(app: app, header: header)
        if let number = known.withLock({ $0[key] }) { return number }
        let text = Cell.text(String(decoding: header, as: UTF8.self))
        // The first statement finds nothing in its own snapshot when another worker inserted meanwhile: read again.
        _ = try connection.run(
            """
            INSERT INTO signing_headers (app_id, header_sha256, header)
            VALUES ($1::integer, sha256(convert_to($2::text, 'UTF8')), $2::text) ON CONFLICT DO NOTHING
            """,
            [.integer(app.rawValue), text]
        )
        let rows = try connection.run(
            "SELECT header_id FROM signing_headers WHERE app_id = $1::integer AND header_sha256 = sha256(convert_to($2::text, 'UTF8'))",
            [.integer(app.rawValue), text]
        )
        let number = Int32(try rows[0].int64("header_id"))
        known.withLock { known in
            if known.count >= Self.capacity { known.removeAll() }
            known[key] = number
        }
        return number
    }
}
