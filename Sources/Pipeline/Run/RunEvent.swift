package import Crawl
package import Planning

/// Progress of a run for display.
///
/// The run does not depend on a listener.
package enum RunEvent: Sendable {
    /// The first event, before any request: the run uses a server other than Apple's.
    case rehearsal(String)
    /// The run was started or joined. It has `items`, of which `done` were already complete.
    case began(RunStart, items: Int64, done: Int64)
    case crawl(CrawlEvent)
    /// Items were added: customers mentioned in notifications, or with a revocation in their history.
    case itemsAdded(total: Int64)
    case remark(String)
    case publishing(directory: String)
}
