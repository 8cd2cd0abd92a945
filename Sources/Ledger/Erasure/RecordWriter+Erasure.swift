import Basics
import LedgerSchema
import Postgres
import SignedData

/// The part of a batch that may be stored, and the erased customers it has revealed.
struct FilteredRows: Sendable {
    let rows: PageRows
    /// The number of withheld records.
    var withheld = 0
    /// IDs of erased customers that this batch has revealed, including the listed ID of the page.
    var recognised: Set<CustomerID> = []
    /// The key of the tombstones for those IDs.
    var key: ErasureKey?
}

extension RecordWriter {
    /// Removes the records of erased customers, and blocks erasures until the transaction ends.
    ///
    /// - Parameters:
    ///   - rows: One page, or one batch of a replay.
    ///   - planner: The app whose job lists the page's ID, if its environment is not that of the rows.
    ///   - connection: Inside the transaction that will write the rows.
    /// - Returns: The rows that may be stored, and the number of withheld records.
    /// - Throws: ``Postgres/PostgresError``; the transaction has then failed.
    func filterErased(
        _ rows: PageRows,
        plannedBy planner: AppID? = nil,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> FilteredRows {
        // In the order in which an erasure takes the locks of several apps.
        var tombstones: [Tombstones] = []
        for app in Set([origin.app, planner ?? origin.app]).sorted(by: { $0.rawValue < $1.rawValue }) {
            if let held = try Tombstones.hold(app, on: connection) { tombstones.append(held) }
        }
        guard let own = tombstones.first(where: { $0.app == origin.app }) else { return FilteredRows(rows: rows) }
        let listed = origin.listedTransactionID.map(CustomerID.transaction)
        let batch = IdentifiedRows(rows, listed: listed)
        let withheld = WithheldRecords(of: batch, erased: try own.erased(among: batch.ids, on: connection))
        for app in tombstones { try app.add(withheld.learned, on: connection) }
        var recognised = withheld.learned
        if let listed, withheld.count > 0 { recognised.insert(listed) }
        return FilteredRows(rows: withheld.kept, withheld: withheld.count, recognised: recognised, key: own.key)
    }

    /// Takes the IDs that ``filterErased(_:plannedBy:on:)`` has recognised out of the state of the crawl, and the texts that quote
    /// them out of the rejects.
    ///
    /// An item keeps its counts under a key that is not an ID, and its state becomes done. A worker that holds it loses
    /// its lease. So call this after the page has updated its own item.
    ///
    /// - Parameters:
    ///   - filtered: Of the batch that the same transaction has written.
    ///   - planner: As for ``filterErased(_:plannedBy:on:)``.
    ///   - connection: Inside that transaction.
    /// - Throws: ``Postgres/PostgresError``; the transaction has then failed.
    func forgetRecognised(
        _ filtered: FilteredRows,
        plannedBy planner: AppID? = nil,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        let ids = filtered.recognised.filter { $0.kind == .transaction }
        guard let key = filtered.key, !filtered.recognised.isEmpty else { return }
        var names: [String: String] = [:]
        for id in ids { names[id.text] = "erased \(key.mark(of: id).prefix(8).hexadecimal)" }
        let planner = Cell.integer((planner ?? origin.app).rawValue)
        for table in CrawlState.tables {
            let found = try connection.run(
                """
                SELECT DISTINCT o.job, o.stream, o.item_key FROM \(CrawlState.items(in: table, named: "$2")) o ORDER BY 1, 2, 3
                """,
                [planner, .textArray(names.keys.sorted())]
            )
            let isItem = table == "crawl_items"
            if found.count > 0 { try leaveStatistics(of: table, on: connection) }
            for row in found {
                let old = try row.text("item_key")
                _ = try connection.run(
                    """
                    UPDATE \(table) SET item_key = $5\(isItem ? Self.isOver : "")
                     WHERE app_id = $1 AND job = $2 AND stream = $3 AND item_key = $4
                    """,
                    [
                        planner, .text(try row.text("job")), .text(try row.text("stream")), .text(old),
                        .text(names[old] ?? "erased"),
                    ]
                )
            }
        }
        try clearRejects(naming: filtered.recognised, on: connection)
    }

    /// The changes to an item whose ID must no longer be requested.
    private static let isOver = """
        , state = 'done', claimable_at = NULL, lease_owner = NULL, lease_epoch = lease_epoch + 1, cursor = NULL,
        saw_revocation = false, error_code = NULL, error_message = NULL,
        finished_at = coalesce(finished_at, clock_timestamp())
        """

    /// Marks the planner's statistics of a table as stale, so that the next refresh renews them.
    private func leaveStatistics(of table: String, on connection: borrowing PostgresConnection) throws(PostgresError) {
        _ = try connection.run("INSERT INTO stale_statistics (table_name) VALUES ($1)", [.text(table)])
    }

    /// Clears rejected records.
    ///
    /// The loading role may not delete them, so the rows are kept without their content.
    private func clearRejects(
        naming ids: Set<CustomerID>,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        let quoting = try QuotedIDs.keys(of: .rejected, quoting: ids, app: origin.app, on: connection)
        var cleared: [String] = []
        for row in try connection.run(
            """
            SELECT record_id::text AS key FROM rejected_records
             WHERE ctid = ANY (ARRAY\(KeyedRows.places(in: "rejected_records", by: "item_key", isAppFirst: false)))
            """,
            [.integer(origin.app.rawValue), .textArray(ids.filter { $0.kind == .transaction }.map(\.text).sorted())]
        ) { cleared.append(try row.text("key")) }
        cleared = Set(cleared + quoting).sorted()
        for record in cleared {
            _ = try connection.run(
                """
                UPDATE rejected_records
                   SET resolved_at = coalesce(resolved_at, now()), raw = '', detail = 'Of an erased customer.', item_key = ''
                 WHERE app_id = $1 AND record_id = $2::text::bigint
                """,
                [.integer(origin.app.rawValue), .text(record)]
            )
        }
        if !cleared.isEmpty { try leaveStatistics(of: "rejected_records", on: connection) }
        try QuotedIDs.remove(.rejected, cleared, app: origin.app, on: connection)
    }
}
