import Basics
import LedgerSchema
import Postgres

/// The part of a batch that may be stored, and what the rest reveals about erased customers.
struct FilteredRows: Sendable {
    let rows: PageRows
    /// The number of withheld records.
    var withheld = 0
    /// IDs that only this batch links to erased customers, including the listed ID of the page.
    var revealed: Set<CustomerID> = []
}

extension RecordWriter {
    /// Removes the records of erased customers, and blocks erasures until the transaction ends.
    ///
    /// - Parameters:
    ///   - rows: One page, or one batch of a replay.
    ///   - planningApp: The app whose job lists the page's ID, if it is in another environment than the rows.
    ///   - connection: Inside the transaction that will write the rows.
    /// - Returns: The rows that may be stored, and the number of withheld records.
    /// - Throws: ``Postgres/PostgresError``; the transaction has then failed.
    func filterErased(
        _ rows: PageRows,
        plannedBy planningApp: AppID? = nil,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> FilteredRows {
        // In the order in which an erasure goes through the apps.
        var tombstones: [Tombstones] = []
        for app in Set([origin.app, planningApp ?? origin.app]).sorted(by: { $0.rawValue < $1.rawValue }) {
            if let held = try Tombstones.blockingErasures(of: app, on: connection) { tombstones.append(held) }
        }
        guard let own = tombstones.first(where: { $0.app == origin.app }) else { return FilteredRows(rows: rows) }
        let listed = origin.listed
        let batch = IdentifiedRows(rows, listed: listed)
        let withheld = WithheldRecords(of: batch, erased: try own.erased(among: batch.ids, on: connection))
        var revealed = withheld.revealed
        let withholdsAnswers = withheld.kept.answers.count < rows.answers.count
        if let listed, withheld.count > 0 || withholdsAnswers { revealed.insert(listed) }
        for app in tombstones { try app.add(revealed, on: connection) }
        return FilteredRows(rows: withheld.kept, withheld: withheld.count, revealed: revealed)
    }

    /// Removes the IDs that ``filterErased(_:plannedBy:on:)`` has revealed from the crawl progress, and the texts that
    /// contain them from the rejected records.
    ///
    /// An item keeps its counts under a key that is not an ID, and its state becomes done. A worker that has leased it
    /// loses its lease. So call this after the page has updated its own item.
    ///
    /// - Parameters:
    ///   - filtered: Of the batch that the same transaction has written.
    ///   - planningApp: As for ``filterErased(_:plannedBy:on:)``.
    ///   - connection: Inside that transaction.
    /// - Throws: ``Postgres/PostgresError``; the transaction has then failed.
    func removeRevealedIDs(
        of filtered: FilteredRows,
        plannedBy planningApp: AppID? = nil,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        guard !filtered.revealed.isEmpty else { return }
        let keys = filtered.revealed.filter(\.isItemKey).map(\.text).sorted()
        _ = try connection.run(
            "SELECT end_erased_items($1::integer, $2::integer, $3::text[])",
            [.integer((planningApp ?? origin.app).rawValue), .integer(origin.app.rawValue), .textArray(keys)]
        )
        try clearRejects(quoting: filtered.revealed, on: connection)
    }

    /// Removes the content of the rejected records of some IDs, and of those whose text contains one of them.
    ///
    /// The loading role may not delete rejected records, so the rows are kept.
    private func clearRejects(
        quoting ids: Set<CustomerID>,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) {
        let quoting = try QuotedIDs.keys(of: .rejected, quoting: ids, app: origin.app, on: connection)
        var cleared: [String] = []
        for row in try connection.run(
            KeyedRows.select("record_id::text AS key", from: "rejected_records", by: "item_key", isAppFirst: false),
            [.integer(origin.app.rawValue), .textArray(ids.filter(\.isItemKey).map(\.text).sorted())]
        ) { cleared.append(try row.text("key")) }
        cleared = Set(cleared + quoting).sorted()
        for record in cleared {
            _ = try connection.run(
                """
                UPDATE rejected_records
                   SET resolved_at = coalesce(resolved_at, now()), raw = '', identity = NULL, detail = 'Of an erased customer.', item_key = ''
                 WHERE app_id = $1 AND record_id = $2::text::bigint
                """,
                [.integer(origin.app.rawValue), .text(record)]
            )
        }
        if !cleared.isEmpty { try markStatisticsStale(of: "rejected_records", on: connection) }
        try QuotedIDs.remove(.rejected, cleared, app: origin.app, on: connection)
    }
}
