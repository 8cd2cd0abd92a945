package import Crawl
package import Ledger

/// What a run tells whoever watches it; nothing depends on anybody listening.
package enum RunEvent: Sendable {
    /// Comes first, before anything is sent: the run asks another server than Apple's.
    case rehearsal(String)
    /// The run was begun or joined; `items` are to be worked on, of which some are done already.
    case began(RunStart, items: Int64, done: Int64)
    case crawl(CrawlEvent)
    /// More items came in: customers whom notifications name, or in whose history a revocation was seen.
    case itemsAdded(total: Int64)
    case remark(String)
    case publishing(directory: String)
}
