import Basics
import Hashing
package import LedgerSchema
package import Postgres

/// The tombstones of one app, in a transaction that has the erasure lock.
///
/// A tombstone is a hash of an ID of an erased customer, made with the app's ``ErasureKey``. Records with such an ID are
/// not stored again. A page, a plan or a replay reads tombstones under the shared lock, and an erasure adds them under
/// the exclusive lock. So no page can miss the tombstones of an erasure that commits before it.
package struct Tombstones {
    package let app: AppID
    package let key: ErasureKey

    /// Blocks erasures until the transaction ends.
    ///
    /// - Returns: `nil` if no customer of the app was erased. The call then costs one query.
    /// - Throws: ``Postgres/PostgresError``, also when an erasure holds the lock for longer than the lock timeout.
    package static func blockingErasures(
        of app: AppID,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> Self? {
        let row = try connection.run("SELECT erasure_key($1::integer) AS key", [.integer(app.rawValue)])[0]
        guard let key = try row.bytesOrNil("key") else { return nil }
        return Self(app: app, key: ErasureKey(key))
    }

    /// Reads the app's key without blocking erasures.
    ///
    /// An erasure can commit at any time after it. ``count(of:on:)`` says whether one has.
    ///
    /// - Returns: `nil` if no customer of the app was erased.
    /// - Throws: ``Postgres/PostgresError``.
    package static func withoutBlocking(
        of app: AppID,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> Self? {
        let rows = try connection.run("SELECT key FROM erasure_keys WHERE app_id = $1", [.integer(app.rawValue)])
        guard let row = rows.first else { return nil }
        return Self(app: app, key: ErasureKey(try row.bytes("key")))
    }

    /// The number of tombstones of an app, which only grows.
    package static func count(
        of app: AppID,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> Int64 {
        try connection.run(
            "SELECT count(*) AS marks FROM erased_marks WHERE app_id = $1",
            [.integer(app.rawValue)]
        )[0].int64("marks")
    }

    /// Waits for all transactions that block erasures, and blocks new ones until this transaction ends.
    ///
    /// Creates the app's key with its first erasure.
    ///
    /// - Throws: ``Postgres/PostgresError``, also when the wait is longer than the lock timeout.
    package static func blockingPages(
        of app: AppID,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> Self {
        try connection.script(TableLock.erasure.exclusively)
        _ = try connection.run(
            "INSERT INTO erasure_keys (app_id, key) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            [.integer(app.rawValue), .bytea(ErasureKey.random())]
        )
        let row = try connection.run("SELECT key FROM erasure_keys WHERE app_id = $1", [.integer(app.rawValue)])[0]
        return Self(app: app, key: ErasureKey(try row.bytes("key")))
    }

    /// The IDs of `ids` that have a tombstone.
    package func erased(
        among ids: Set<CustomerID>,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> Set<CustomerID> {
        guard !ids.isEmpty else { return [] }
        var byMark: [String: CustomerID] = [:]
        for id in ids { byMark[key.mark(of: id).hexadecimal] = id }
        let found = try connection.run(
            """
            SELECT w.mark FROM unnest($2::text[]) AS w (mark)
              JOIN LATERAL (SELECT FROM erased_marks e WHERE e.app_id = $1::integer AND e.mark = decode(w.mark, 'hex') OFFSET 0) e ON true
            """,
            [.integer(app.rawValue), .textArray(Array(byMark.keys))]
        )
        var erased: Set<CustomerID> = []
        for row in found {
            if let id = byMark[try row.text("mark")] { erased.insert(id) }
        }
        return erased
    }

    /// Adds a tombstone for each ID that has none, in order, so that two pages of one customer cannot deadlock.
    ///
    /// - Returns: The number of new tombstones.
    @discardableResult
    package func add(_ ids: Set<CustomerID>, on connection: borrowing PostgresConnection) throws(PostgresError) -> Int {
        guard !ids.isEmpty else { return 0 }
        return try connection.run(
            """
            INSERT INTO erased_marks (app_id, mark)
            SELECT $1::integer, decode(w.mark, 'hex') FROM unnest($2::text[]) AS w (mark) ON CONFLICT DO NOTHING
            """,
            [.integer(app.rawValue), .textArray(ids.map { key.mark(of: $0).hexadecimal }.sorted())]
        ).affected
    }

    /// Removes the IDs of erased customers from the batch in `stage_ids`.
    ///
    /// - Parameter connection: Inside a transaction.
    /// - Returns: The number of distinct removed IDs.
    /// - Throws: ``Postgres/PostgresError``; the transaction has then failed.
    package func dropListed(
        _ kind: CustomerID.Kind,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> Int64 {
        try connection.run(
            .dropListed(kind),
            ["app": .integer(app.rawValue), "inner": .bytea(key.inner), "outer": .bytea(key.outer)]
        )[0].int64("ids")
    }
}
