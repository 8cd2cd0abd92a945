package import LedgerSchema
package import Postgres
import Synchronization

/// A cache of the JWS headers in the ledger and of their numbers.
///
/// Millions of records share a few headers.
package final class SigningHeaders: Sendable {
    private struct Key: Hashable {
        let app: AppID
        let header: [UInt8]
    }

    private struct Number: Hashable {
        let app: AppID
        let number: Int32
    }

    /// The headers with known numbers, and the last requested one.
    ///
    /// The same header is usually requested again, and comparing 4 KB is faster than hashing them.
    private struct Known {
        var numbers: [Key: Int32] = [:]
        var last: (key: Key, number: Int32)?

        mutating func number(of key: Key) -> Int32? {
            if let last, last.key == key { return last.number }
            guard let number = numbers[key] else { return nil }
            last = (key, number)
            return number
        }
    }

    private let known = Mutex(Known())
    private let texts = Mutex<[Number: [UInt8]]>([:])
    /// The number of headers at which a cache is emptied.
    ///
    /// Apple rotates only a few certificates a year.
    private static let capacity = 1_024

    /// Empties both caches.
    func forget() {
        known.withLock { $0 = Known() }
        texts.withLock { $0.removeAll() }
    }

    /// Whether the number of a header is known without a query.
    package func knows(_ header: [UInt8], app: AppID) -> Bool {
        known.withLock { $0.number(of: Key(app: app, header: header)) != nil }
    }

    /// The number of a header.
    ///
    /// A new header is committed in a separate transaction, before any row needs it.
    package func number(
        of header: [UInt8],
        app: AppID,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> Int32 {
        let key = Key(app: app, header: header)
        if let number = known.withLock({ $0.number(of: key) }) { return number }
        let text = Cell.text(String(decoding: header, as: UTF8.self))
        // A separate SELECT reads the number, because the INSERT cannot see a row that another
        // worker inserted meanwhile.
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
            if known.numbers.count >= Self.capacity { known.numbers.removeAll() }
            known.numbers[key] = number
        }
        return number
    }

    /// The header with a number; `nil` if none exists.
    ///
    /// Each header is read from the database once.
    func text(
        of number: Int32,
        app: AppID,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> [UInt8]? {
        let key = Number(app: app, number: number)
        if let text = texts.withLock({ $0[key] }) { return text }
        let rows = try connection.run(
            "SELECT header FROM signing_headers WHERE app_id = $1 AND header_id = $2",
            [.integer(app.rawValue), .integer(number)]
        )
        guard let row = rows.first else { return nil }
        let text = try row.utf8("header")
        texts.withLock { texts in
            if texts.count >= Self.capacity { texts.removeAll() }
            texts[key] = text
        }
        return text
    }
}
