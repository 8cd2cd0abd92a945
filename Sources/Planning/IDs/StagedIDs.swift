import AppStoreModel
import Basics
import JobFiles
import JobSyntax
import Ledger
import Postgres

/// The IDs to plan, each once, sorted and divided into batches in a temporary table of one session.
///
/// The list is never in memory as a whole, and one transaction plans at most one batch.
struct StagedIDs {
    /// The number of IDs that one transaction plans.
    private static let batchSize = 10_000

    /// The numbers of the batches in `listed_ids`.
    let batches: Range<Int>
    /// The number of distinct IDs.
    let count: Int64
    /// The number of rows that repeat an ID.
    let duplicates: Int64
    /// The rows of a file that are left out.
    private(set) var skipped = SkippedReceipts()

    /// Copies the listed IDs.
    ///
    /// - Parameters:
    ///   - kind: What its IDs identify.
    ///   - others: The number of batches of lists that were copied before, which the tables keep; 0 empties the tables.
    ///   - connection: Outside a transaction.
    /// - Throws: ``BadListedID``, ``BadListQuery``, errors of the feed, ``Postgres/PostgresError``. Then nothing is
    ///   staged.
    static func copy(
        _ ids: ListedIDs,
        of kind: IDKind,
        after others: Int = 0,
        on connection: borrowing PostgresConnection
    ) throws -> StagedIDs {
        var skipped = SkippedReceipts()
        var staged = try stage(after: others, on: connection) { connection in
            switch ids {
            case .none:
                return
            case .feed(let feed):
                try feed { try copy($0, on: connection) }
            case .file(let file):
                skipped = try file.read { try copy($0, on: connection) }
            case .query(let sql):
                try BadListQuery.translating(kind) {
                    try UserTables.first(on: connection) { connection in
                        // The line feed ends a possible comment at the end of the query.
                        _ = try connection.run(
                            """
                            INSERT INTO pg_temp.stage_ids (item_key) SELECT listed.id::text FROM (\(sql)
                            ) AS listed (id) WHERE listed.id IS NOT NULL
                            """
                        )
                    }
                }
                let bad = try connection.run(
                    "SELECT left(item_key, 40) AS id FROM stage_ids WHERE item_key !~ $1 LIMIT 1",
                    [.text(kind.pattern)]
                )
                if let row = bad.first { throw BadListedID(kind: kind, found: try row.text("id")) }
            }
        }
        staged.skipped = skipped
        return staged
    }

    private static func copy(_ batch: [String], on connection: borrowing PostgresConnection) throws {
        let rows = batch.lazy.map { id -> [Cell] in
            crashPoint(.idCopied)
            return [.text(id)]
        }
        try connection.copyIn("stage_ids", columns: ["item_key"], rows: rows)
    }

    /// Stages the result of one of the ledger's own queries.
    static func select(
        _ query: SQLStatement,
        _ values: KeyValuePairs<String, Cell>,
        on connection: borrowing PostgresConnection
    ) throws -> StagedIDs {
        try stage(on: connection) { connection in
            _ = try connection.run("INSERT INTO stage_ids (item_key) \(query.text)", query.cells(values))
        }
    }

    /// Loads one batch into `stage_ids`, in the transaction that plans it.
    func load(_ batch: Int, on connection: borrowing PostgresConnection) throws(PostgresError) {
        try connection.script("TRUNCATE stage_ids")
        _ = try connection.run(
            "INSERT INTO stage_ids (item_key) SELECT item_key FROM listed_ids WHERE batch = $1",
            [.integer(Int32(batch))]
        )
    }

    /// Empties the tables after planning, because they contain customers' IDs and the session continues.
    static func empty(on connection: borrowing PostgresConnection) throws(PostgresError) {
        try connection.script("TRUNCATE stage_ids, listed_ids")
    }

    /// All IDs in `listed_ids`, and the current batch in `stage_ids`.
    ///
    /// They have no `ON COMMIT DELETE ROWS`: `listed_ids` must survive the commit of each batch, and PostgreSQL would
    /// empty the tables at every later commit of the session.
    private static let createTables = """
        CREATE TEMP TABLE IF NOT EXISTS stage_ids (item_key text NOT NULL);
        CREATE TEMP TABLE IF NOT EXISTS listed_ids (item_key text NOT NULL, batch integer NOT NULL);
        CREATE INDEX IF NOT EXISTS listed_ids_batch ON listed_ids (batch)
        """

    /// Stages IDs in a separate transaction, which takes no locks that other sessions need.
    private static func stage(
        after others: Int = 0,
        on connection: borrowing PostgresConnection,
        _ fill: (borrowing PostgresConnection) throws -> Void
    ) throws -> StagedIDs {
        try connection.transaction(.readCommitted) { connection in
            try connection.script(
                "\(Ledger.defaultPlanner); \(createTables); TRUNCATE stage_ids\(others == 0 ? ", listed_ids" : "")"
            )
            try fill(connection)
            _ = try connection.run(
                """
                INSERT INTO listed_ids (item_key, batch)
                SELECT item_key, $2::bigint + (row_number() OVER (ORDER BY item_key) - 1) / $1::bigint
                  FROM (SELECT DISTINCT item_key FROM stage_ids) d ORDER BY item_key
                """,
                [.bigint(Int64(batchSize)), .bigint(Int64(others))]
            )
            let row = try connection.run(
                """
                SELECT (SELECT count(*) FROM stage_ids) AS listed, count(*) AS kept,
                       coalesce(max(batch) + 1, $1::integer) AS batches
                  FROM listed_ids WHERE batch >= $1
                """,
                [.integer(Int32(others))]
            )[0]
            try connection.script("TRUNCATE stage_ids")
            let kept = try row.int64("kept")
            return StagedIDs(
                batches: others..<Int(try row.int64("batches")),
                count: kept,
                duplicates: try row.int64("listed") - kept
            )
        }
    }
}

/// All lists of a run, staged in the same tables.
struct StagedLists {
    /// The job's transaction IDs.
    let transactions: StagedIDs
    /// The lists of streams with their own IDs.
    let own: [(stream: StreamName, ids: StagedIDs)]

    /// The titles of the job's lists without an ID, such as `transactionIds.csv (/srv/ids.csv)`.
    func emptyLists(of job: JobFile) -> [String] {
        job.idLists.filter { named in
            guard let stream = named.stream else { return transactions.count == 0 }
            return own.contains { $0.stream == stream && $0.ids.count == 0 }
        }.map(\.title)
    }

    /// What the job's files leave out, and the number of rows whose customer is lost with the receipt.
    func skipped(of job: JobFile) -> (remarks: [String], unreadable: Int) {
        let title = job.idLists.first { $0.stream == nil }?.title ?? ""
        let skipped = transactions.skipped
        return (skipped.sentences.map { "\(title): \($0)" }, skipped.unreadable)
    }

    /// Copies the lists; see ``StagedIDs/copy(_:of:after:on:)``.
    static func copy(_ lists: RunLists, on connection: borrowing PostgresConnection) throws -> StagedLists {
        let transactions = try StagedIDs.copy(lists.transactions, of: .transaction, on: connection)
        var end = transactions.batches.upperBound
        var own: [(stream: StreamName, ids: StagedIDs)] = []
        for list in lists.own {
            let staged = try StagedIDs.copy(list.ids, of: list.kind, after: end, on: connection)
            end = staged.batches.upperBound
            own.append((list.stream, staged))
        }
        return StagedLists(transactions: transactions, own: own)
    }
}
