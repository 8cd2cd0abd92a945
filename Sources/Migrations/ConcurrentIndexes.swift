import Ledger
import Postgres

/// Builds and drops the indexes of one migration without blocking writers, one statement at a time.
///
/// After a kill, the next call continues. An invalid index, which a killed build leaves, is built again: it costs
/// updates and serves no queries.
struct ConcurrentIndexes: ~Copyable {
    private(set) var built: [String] = []
    private(set) var dropped: [String] = []

    /// Runs one statement outside a transaction, if its index is not yet there or not yet gone.
    mutating func apply(_ statement: Migration.IndexStatement, on connection: borrowing PostgresConnection) throws {
        switch statement {
        case .create(let index):
            if try validity(of: index.name, connection) == true { return }
            let partitions = try Partitioning.partitions(of: index.table, on: connection)
            if partitions.isEmpty {
                try build(index, on: connection)
            } else {
                try build(index, onEachOf: partitions, connection)
            }
            built.append(index.name)
        case .drop(let index):
            guard try validity(of: index, connection) != nil else { return }
            // PostgreSQL cannot drop the index of a partitioned table concurrently. Dropping it is short, but waits for
            // transactions that use the table.
            let isPartitioned = try connection.run(
                "SELECT relkind = 'I' AS partitioned FROM pg_class WHERE oid = to_regclass(quote_ident($1::text))",
                [.text(index)]
            )[0].bool("partitioned")
            try Self.run("DROP INDEX \(isPartitioned ? "" : "CONCURRENTLY ")IF EXISTS \(index)", on: connection)
            dropped.append(index)
        }
    }

    /// Building an index waits for open transactions, but does not block writers.
    private static func run(_ statement: String, on connection: borrowing PostgresConnection) throws {
        let patience = "'\(Ledger.longLockTimeout.components.seconds)s'"
        try connection.runAlone(statement, with: .init("lock_timeout", patience))
    }

    private func build(
        _ index: Migration.NewIndex,
        on connection: borrowing PostgresConnection
    ) throws {
        switch try validity(of: index.name, connection) {
        case true?: return
        case false?: try Self.run("DROP INDEX CONCURRENTLY \(index.name)", on: connection)
        case nil: break
        }
        try Self.run(
            "CREATE \(index.kind) CONCURRENTLY \(index.name) ON \(index.table) \(index.definition)",
            on: connection
        )
    }

    /// Builds the index of a partitioned table partition by partition, because PostgreSQL cannot build it concurrently.
    ///
    /// The index of the table becomes valid when each partition has a valid index attached to it.
    private func build(
        _ index: Migration.NewIndex,
        onEachOf partitions: [String],
        _ connection: borrowing PostgresConnection
    ) throws {
        try Self.run(
            "CREATE \(index.kind) IF NOT EXISTS \(index.name) ON ONLY \(index.table) \(index.definition)",
            on: connection
        )
        for partition in partitions {
            let part = index.of(partition)
            try build(part, on: connection)
            // Attaching an index that is attached already does nothing.
            try Self.run("ALTER INDEX \(index.name) ATTACH PARTITION \(part.name)", on: connection)
        }
    }

    /// Whether an index of the schema is valid; `nil` if it does not exist.
    private func validity(of index: String, _ connection: borrowing PostgresConnection) throws -> Bool? {
        let found = try connection.run(
            """
            SELECT x.indisvalid FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid
             WHERE c.relname = $1 AND c.relnamespace = current_schema()::regnamespace
            """,
            [.text(index)]
        )
        return found.count == 1 ? try found[0].bool("indisvalid") : nil
    }
}
