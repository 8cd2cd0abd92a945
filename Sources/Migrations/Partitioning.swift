import Ledger
import Postgres

/// Replaces the large tables of an empty ledger by tables with hash partitions.
///
/// The same statements work on both kinds of tables. Every unique index of a partitioned table includes the column by
/// whose hash the rows are divided, so that PostgreSQL can enforce it in one partition.
package struct Partitioning: Sendable {
    /// The possible numbers of partitions of a table.
    package static let counts = 2...256

    /// The large tables, with the column by whose hash a row is assigned to a partition.
    ///
    /// Each column is in the primary key, and is the key by which pages look up rows.
    package static let keys = [
        (table: "transactions", column: "transaction_id"), (table: "notifications", column: "notification_uuid"),
        (table: "signed_payloads", column: "record_key"), (table: "crawl_items", column: "item_key"),
    ]

    /// How many partitions each table gets; in ``counts``.
    let count: Int

    /// Whether the tables still have to be partitioned.
    ///
    /// It locks plain tables until the transaction ends, so that no row arrives meanwhile.
    ///
    /// - Throws: ``LedgerError/partitionsDecided(schema:found:requested:)`` if the tables have another number of
    ///   partitions, or have no partitions but rows; ``Postgres/PostgresError``.
    func isNeeded(in schema: String, on connection: borrowing PostgresConnection) throws -> Bool {
        for table in Self.keys.map(\.table) {
            let found = try Self.partitions(of: table, on: connection).count
            if found == count { continue }
            var hasRows = false
            if found == 0 {
                try connection.script("LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE")
                hasRows = try connection.run("SELECT EXISTS (SELECT FROM \(table)) AS found")[0].bool("found")
            }
            guard found == 0, !hasRows else {
                throw LedgerError.partitionsDecided(schema: schema, found: found, requested: count)
            }
        }
        return try Self.partitions(of: Self.keys[0].table, on: connection).isEmpty
    }

    /// Replaces the tables, which have no rows.
    ///
    /// No view may read them; ``ViewChanges`` drops the views before.
    func apply(on connection: borrowing PostgresConnection) throws {
        for (table, column) in Self.keys {
            let steps = try connection.run(
                .partitionTable,
                ["name": .text(table), "key": .text(column), "partitions": .integer(Int32(count))]
            )
            for step in steps { try connection.script(try step.text("statement")) }
        }
        try Self.completeTriggers(on: connection)
    }

    /// Gives each partition of the schema the statement triggers of its table, as far as it has others.
    ///
    /// A statement that names a partition fires only the triggers of the partition. A partition whose triggers are right is
    /// not locked.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    static func completeTriggers(on connection: borrowing PostgresConnection) throws {
        for step in try connection.run(.partitionTriggers, [:]) { try connection.script(try step.text("statement")) }
    }

    /// The names of a table's partitions, in order of creation; none for a plain table.
    static func partitions(of table: String, on connection: borrowing PostgresConnection) throws -> [String] {
        try connection.run(
            """
            SELECT c.relname::text AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
             WHERE i.inhparent = to_regclass(quote_ident($1::text)) AND c.relispartition ORDER BY c.oid
            """,
            [.text(table)]
        ).map { try $0.text("name") }
    }
}
