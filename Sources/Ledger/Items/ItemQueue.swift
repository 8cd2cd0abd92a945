package import AppStoreModel
import Basics
import LedgerSchema
import Postgres
package import Streams

extension Ledger {
    /// The result of ``lease(_:atMost:for:)``.
    package enum Leased: Sendable {
        case items([WorkItem])
        /// No item is available now; look again after this time.
        ///
        /// The next item is due or its lease expires then, unless the lease is renewed. An item that is released is available
        /// earlier.
        case later(Duration)
        /// Every item of the stream is done or has failed.
        case drained
    }

    /// Leases unfinished items of one stream: first items of dead workers, then new items, then postponed items.
    package func lease(_ stream: StreamName, atMost count: Int, for holder: LeaseHolder) async throws -> Leased {
        try await control.transaction { connection in
            let taken = try connection.run(
                .leaseItems,
                [
                    "app": .integer(holder.app.rawValue),
                    "job": .text(holder.job),
                    "stream": .text(stream.rawValue),
                    "run": .bigint(holder.run),
                    "owner": .uuid(holder.owner),
                    "count": .bigint(Int64(count)),
                    "lease_milliseconds": .bigint(LeaseHolder.leaseLife.wholeMilliseconds),
                ]
            )
            guard taken.count == 0 else {
                crashPoint(.itemsClaimed)
                return .items(try Self.items(of: stream, in: taken))
            }
            let next = try connection.run(
                .nextItem,
                [
                    "app": .integer(holder.app.rawValue),
                    "job": .text(holder.job),
                    "stream": .text(stream.rawValue),
                    "run": .bigint(holder.run),
                ]
            )
            guard let wait = try next[0].int64OrNil("wait_ms") else { return .drained }
            return .later(.milliseconds(max(1, wait)))
        }
    }

    private static func items(of stream: StreamName, in rows: PostgresRows) throws -> [WorkItem] {
        var items: [WorkItem] = []
        for row in 0..<rows.count {
            var window: Range<UnixMilliseconds>?
            if let start = try rows[row].timestampOrNil("window_start"),
                let end = try rows[row].timestampOrNil("window_end")
            {
                window = UnixMilliseconds(rawValue: start)..<UnixMilliseconds(rawValue: max(start, end))
            }
            items.append(
                WorkItem(
                    stream: stream,
                    key: try rows[row].text("item_key"),
                    epoch: try rows[row].int64("lease_epoch"),
                    pageSequence: try rows[row].int64("page_seq"),
                    cursor: try rows[row].textOrNil("cursor"),
                    window: window,
                    otherEnvironment: try rows[row].textOrNil("other_environment")
                        .flatMap(AppStoreEnvironment.init),
                    pageCount: Int(try rows[row].int64("page_count")),
                    restarts: Int(try rows[row].int64("restarts")),
                    deferrals: Int(try rows[row].int64("deferrals"))
                )
            )
        }
        return items
    }

    /// Renews the leases that the process still uses.
    ///
    /// - Parameter items: Items that are in progress or about to start. Other leases are not renewed and expire.
    /// - Returns: The items whose leases the process still has. Other workers have taken the rest.
    /// - Throws: ``Postgres/PostgresError``.
    package func renewLeases(of items: [HeldItem], for holder: LeaseHolder) async throws -> [HeldItem] {
        try await control.transaction { connection in
            let rows = try connection.run(
                .renewItemLeases,
                [
                    "app": .integer(holder.app.rawValue),
                    "owner": .uuid(holder.owner),
                    "lease_milliseconds": .bigint(LeaseHolder.leaseLife.wholeMilliseconds),
                    "job": .text(holder.job),
                    "streams": .textArray(items.map(\.stream)),
                    "item_keys": .textArray(items.map(\.key)),
                    "epochs": .textArray(items.map { String($0.epoch) }),
                ]
            )
            crashPoint(.leasesRenewed)
            return try rows.map { row in
                HeldItem(
                    stream: try row.text("stream"),
                    key: try row.text("item_key"),
                    epoch: try row.int64("lease_epoch")
                )
            }
        }
    }

    /// Releases all items of the process without changing cursors and counts; any worker can take them at once.
    package func releaseLeases(of holder: LeaseHolder) async throws {
        try await control.transaction { connection in
            _ = try connection.run(
                """
                UPDATE crawl_items SET state = 'waiting', lease_owner = NULL, claimable_at = clock_timestamp()
                 WHERE app_id = $1 AND lease_owner = $2 AND state = 'leased'
                """,
                [.integer(holder.app.rawValue), .uuid(holder.owner)]
            )
        }
    }
}

/// Identifies one lease.
package struct HeldItem: Hashable, Sendable {
    package let stream: String
    package let key: String
    package let epoch: Int64

    package init(stream: String, key: String, epoch: Int64) {
        self.stream = stream
        self.key = key
        self.epoch = epoch
    }

    package init(_ item: WorkItem) {
        self.init(stream: item.stream.rawValue, key: item.key, epoch: item.epoch)
    }
}
