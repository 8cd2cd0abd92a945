package import AppStoreModel
import Basics
package import LedgerSchema
import Postgres
package import Streams
import Synchronization

/// One page to commit: rows, rejects, cursor and lease check, all or nothing.
package struct PageCommit: Sendable {
    package let item: WorkItem
    package let holder: LeaseHolder
    package let rows: PageRows
    package let origin: RowOrigin
    /// `revision` or `paginationToken` of this page; `nil` if the next crawl must start at the first page.
    package let cursor: String?
    package let isLast: Bool
    /// Only with the last page: the time up to which the item is now complete.
    package let completeUntil: UnixMilliseconds?
    /// Requests spent on the page, retries included.
    package let requests: Int

    package init(
        item: WorkItem,
        holder: LeaseHolder,
        rows: PageRows,
        origin: RowOrigin,
        cursor: String?,
        isLast: Bool,
        completeUntil: UnixMilliseconds?,
        requests: Int
    ) {
        self.item = item
        self.holder = holder
        self.rows = rows
        self.origin = origin
        self.cursor = cursor
        self.isLast = isLast
        self.completeUntil = completeUntil
        self.requests = requests
    }
}

extension Ledger {
    /// Commits one page.
    ///
    /// If the answer to COMMIT is lost, the item's page sequence shows whether the page was committed.
    ///
    /// - Returns: The changes, or `nil` if another worker has leased the item; then nothing was written.
    /// - Throws: ``Postgres/PostgresError`` after the last attempt; ``LockTimeout`` if that attempt waited for a lock.
    package func commit(_ page: PageCommit) async throws -> RowCounts? {
        try await pages.namingHolders { try await commitWithRetries(page) }
    }

    private func commitWithRetries(_ page: PageCommit) async throws -> RowCounts? {
        let writer = RecordWriter(origin: page.origin, headers: headers)
        let written = Mutex<RowCounts?>(nil)
        /// The changes of an attempt whose COMMIT has an unknown outcome.
        var inDoubt: RowCounts?
        var attempt = 1
        var conflicts = 0
        while true {
            do {
                return try await pages.pool.withConnection { connection in
                    try writer.prepareSession(for: page.rows, on: connection)
                    let keepsPlans = try settledTables.includeTables(of: page.rows, on: connection)
                    return try connection.transaction(.readCommitted, keepsPlans: keepsPlans) { connection in
                        crashPoint(.pageBegun)
                        let counts = try writer.store(
                            page.rows,
                            itemKey: page.item.key,
                            plannedBy: page.holder.app,
                            on: connection
                        ) { rows, counts, connection in
                            written.withLock { $0 = counts }
                            guard try page.advance(counts, of: rows, on: connection) else { throw StaleLease() }
                        }
                        crashPoint(.pageAdvanced)
                        return counts
                    }
                }
            } catch is StaleLease {
                // The COMMIT in doubt may have completed after the last check.
                guard let inDoubt else { return nil }
                return try await isCommitted(page) ? inDoubt : nil
            } catch is RowChangedMeanwhile where conflicts < RowChangedMeanwhile.limit {
                conflicts += 1
            } catch let error as PostgresError where error.mayPass && attempt < RetryingPool.attempts {
                attempt += 1
                if error.isOutcomeUnknown { inDoubt = written.withLock { $0 } }
                try await pages.settle(error)
                if let inDoubt, try await isCommitted(page) { return inDoubt }
            }
        }
    }

    /// Whether the page was committed although the answer to COMMIT was lost.
    private func isCommitted(_ page: PageCommit) async throws -> Bool {
        try await transaction { connection in
            let rows = try connection.run(
                .isPageCommitted,
                [
                    "app": .integer(page.holder.app.rawValue), "job": .text(page.holder.job),
                    "stream": .text(page.item.stream.rawValue), "item": .text(page.item.key),
                    "epoch": .bigint(page.item.epoch),
                ]
            )
            return rows.count == 1 ? try rows[0].int64("page_seq") > page.item.pageSequence : false
        }
    }
}

/// The item was not advanced, because this process no longer has its lease or has advanced it before.
///
/// Everything the page wrote is rolled back.
private struct StaleLease: Error {}

extension PageCommit {
    /// Advances the item by one page.
    ///
    /// - Returns: Whether this process still had the item's lease; if not, nothing was changed.
    fileprivate func advance(
        _ counts: RowCounts,
        of rows: PageRows,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> Bool {
        let moved = try connection.run(
            .advanceItem,
            [
                "app": .integer(holder.app.rawValue),
                "records_app": .integer(origin.app.rawValue),
                "job": .text(holder.job),
                "stream": .text(item.stream.rawValue),
                "item_key": .text(item.key),
                "epoch": .bigint(item.epoch),
                "owner": .uuid(holder.owner),
                "page_seq": .bigint(item.pageSequence),
                "cursor": cursor.map(Cell.text) ?? .null,
                "requests": .integer(Int32(requests)),
                "rows_new": .integer(Int32(counts.new)),
                "rows_updated": .integer(Int32(counts.updated)),
                "rows_unchanged": .integer(Int32(counts.unchanged)),
                "rejected": .integer(Int32(rows.rejected.count - counts.dismissed)),
                "withheld": .integer(Int32(counts.withheld)),
                "saw_revocation": .boolean(rows.sawRevocation),
                "brings_refunds": .boolean(origin.returnsRefunds),
                "is_last": .boolean(isLast),
                "complete_until": completeUntil.map { .timestamp($0.rawValue) } ?? .null,
            ]
        )
        guard moved.affected == 1 else { return false }
        if try moved[0].bool("has_earlier_rejects") { try resolveEarlierRejects(on: connection) }
        return true
    }

    private func resolveEarlierRejects(on connection: borrowing PostgresConnection) throws(PostgresError) {
        _ = try connection.run(
            .resolveRejects,
            [
                "app": .integer(holder.app.rawValue),
                "records_app": .integer(origin.app.rawValue),
                "job": .text(holder.job),
                "stream": .text(item.stream.rawValue),
                "item_key": .text(item.key),
                "run": .bigint(holder.run),
                "failures_prefix": .text(WindowReading.failuresPrefix),
            ]
        )
    }
}
