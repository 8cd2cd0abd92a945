package import AppStoreModel
package import JobPlan

/// Where items come from and where pages end up.
///
/// Nothing the crawl knows lives anywhere else.
package protocol CrawlStore: Sendable {
    /// A page whose records are verified.
    associatedtype VerifiedPage: Sendable
    /// What a page adds to the store.
    associatedtype Rows: Sendable

    /// Leases items of `stream` to this process.
    func lease(_ stream: StreamName, atMost count: Int) async throws -> LeaseAnswer

    /// Whether this process may still send requests for `item`; false once its lease could have run out.
    func holds(_ item: WorkItem) -> Bool

    /// Verifies every record of the page.
    ///
    /// - Throws: When the item belongs to an environment that the job does not request.
    func verify(_ page: Page, of item: WorkItem) throws -> VerifiedPage

    /// Maps verified records to rows.
    func normalize(_ page: VerifiedPage) -> Rows

    /// Stores the rows and the item's next cursor together, or neither.
    ///
    /// - Parameters:
    ///   - rows: Of the page.
    ///   - page: As Apple answered it; its cursor and whether more pages follow count.
    ///   - item: As it was leased or last committed.
    ///   - requests: Requests spent on the page, retries included.
    /// - Returns: The item as it is now, and what changed.
    /// - Throws: ``LeaseLost`` when another worker holds the item by now.
    func commit(_ rows: Rows, of page: Page, for item: WorkItem, requests: Int) async throws -> PageOutcome

    /// Records what became of an item that gave no page.
    ///
    /// - Throws: ``LeaseLost`` when another worker holds the item by now; it is left alone.
    func record(_ outcome: ItemOutcome, of item: WorkItem, requests: Int) async throws
}

/// What ``CrawlStore/lease(_:atMost:)`` found.
package enum LeaseAnswer: Sendable {
    case items([WorkItem])
    /// Every item is being worked on or put off; ask again after at most this long.
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
    /// Reasons of those of them that the store did not have as rejected before, in whichever run.
    package let newlyRejected: [String]

    package init(
        item: WorkItem,
        rowsNew: Int,
        rowsUpdated: Int,
        rowsUnchanged: Int,
        rejected: [String],
        newlyRejected: [String]
    ) {
        self.item = item
        self.rowsNew = rowsNew
        self.rowsUpdated = rowsUpdated
        self.rowsUnchanged = rowsUnchanged
        self.rejected = rejected
        self.newlyRejected = newlyRejected
    }

    package var records: Int { rowsNew + rowsUpdated + rowsUnchanged + rejected.count }
}

/// Another worker holds the item: what this one fetched is dropped.
package struct LeaseLost: Error, Equatable {
    package init() {}
}
