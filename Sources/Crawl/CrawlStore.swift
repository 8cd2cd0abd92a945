package import AppStoreModel
package import JobPlan

/// Where items come from and where pages end up.
///
/// Nothing the crawl knows lives anywhere else.
package protocol CrawlStore: Sendable {
    /// Leases items of `stream` to this process.
    func lease(_ stream: StreamName, atMost count: Int) async throws -> LeaseAnswer

    /// Whether this process may still send requests for `item`; false once its lease could have run out.
    func holds(_ item: WorkItem) -> Bool

    /// Stores the page's rows and the item's next cursor together, or neither.
    ///
    /// - Parameters:
    ///   - page: As Apple answered it.
    ///   - item: Whose page it is, as it was leased or last committed.
    ///   - requests: Requests spent on the page, retries included.
    /// - Returns: The item as it stands now, and what changed.
    /// - Throws: ``LeaseLost`` when another worker holds the item by now.
    func commit(_ page: Page, of item: WorkItem, requests: Int) async throws -> PageOutcome

    /// Files how an item stands that gave no page.
    ///
    /// - Throws: ``LeaseLost`` when another worker holds the item by now; it is left alone.
    func file(_ end: ItemEnd, of item: WorkItem, requests: Int) async throws
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

/// How an item stands when the crawl lets go of it without a page.
package enum ItemEnd: Equatable, Sendable {
    /// Over for this run; the cursor is kept for the next.
    case failed(code: Int64?, message: String)
    /// Put off: any worker may take it after `delay`. Waiting is not failing.
    case putOff(delay: Duration, code: Int64?, message: String)
    /// Apple refused the cursor: the item begins again at its first page, at once.
    case restarted(code: Int64?, message: String)
    /// Apple no longer serves the window's beginning: it begins later, and the gap is recorded.
    case clamped(code: Int64?, message: String)
    /// Apple's production does not know the ID: the item goes on in `environment`.
    case moved(AppStoreEnvironment)
}

/// Another worker holds the item: what this one fetched is dropped.
package struct LeaseLost: Error, Equatable {
    package init() {}
}
