package import AppStoreModel
package import Streams

/// The source of work items and the destination of pages.
///
/// All durable state of the crawl is here.
package protocol CrawlStore: Sendable {
    /// A page whose records are verified.
    associatedtype CheckedPage: Sendable
    /// What a page adds to the store.
    associatedtype Rows: Sendable

    /// Leases items of `stream` to this process.
    func lease(_ stream: StreamName, atMost count: Int) async throws -> LeaseAnswer

    /// Whether this process may still send requests for `item`; false as soon as its lease could have expired.
    func holds(_ item: WorkItem) -> Bool

    /// Verifies every record of the page.
    ///
    /// - Throws: An error if the item belongs to an environment that the job does not request.
    func verify(_ page: Page, of item: WorkItem) throws -> CheckedPage

    /// Maps verified records to rows.
    func normalize(_ page: CheckedPage) -> Rows

    /// Stores the rows and the item's next cursor together, or neither.
    ///
    /// - Parameters:
    ///   - page: The page from Apple, for its cursor and whether more pages follow.
    ///   - item: As it was leased or last committed.
    ///   - requests: Requests spent on the page, retries included.
    /// - Returns: The item with its new state, and what changed.
    /// - Throws: ``LeaseLost`` when another worker has leased the item.
    func commit(_ rows: Rows, of page: Page, for item: WorkItem, requests: Int) async throws -> PageOutcome

    /// Records the outcome of an item whose page could not be fetched.
    ///
    /// - Throws: ``LeaseLost`` when another worker has leased the item. The item is not changed.
    func record(_ outcome: ItemOutcome, of item: WorkItem, requests: Int) async throws
}

/// What ``CrawlStore/lease(_:atMost:)`` found.
package enum LeaseAnswer: Sendable {
    case items([WorkItem])
    /// Every item is leased or postponed.
    ///
    /// Ask again after at most this time.
    case later(Duration)
    /// Every item of the stream has reached its end.
    case drained
}

/// What a committed page changed.
package struct PageOutcome: Sendable {
    /// The item with its new cursor and counts.
    package let item: WorkItem
    package let rowsNew: Int
    package let rowsUpdated: Int
    package let rowsUnchanged: Int
    /// Reasons of the records that were rejected.
    package let rejected: [String]
    /// Reasons of the records that were rejected for the first time, over all runs.
    package let newlyRejected: [String]
    /// Whether a record of the page is of a revoked purchase.
    package let sawRevocation: Bool

    package init(
        item: WorkItem,
        rowsNew: Int,
        rowsUpdated: Int,
        rowsUnchanged: Int,
        rejected: [String],
        newlyRejected: [String],
        sawRevocation: Bool = false
    ) {
        self.item = item
        self.rowsNew = rowsNew
        self.rowsUpdated = rowsUpdated
        self.rowsUnchanged = rowsUnchanged
        self.rejected = rejected
        self.newlyRejected = newlyRejected
        self.sawRevocation = sawRevocation
    }

    package var records: Int { rowsNew + rowsUpdated + rowsUnchanged + rejected.count }
}

/// Another worker has leased the item.
///
/// The page that this worker fetched is discarded.
package struct LeaseLost: Error, Equatable {
    package init() {}
}
