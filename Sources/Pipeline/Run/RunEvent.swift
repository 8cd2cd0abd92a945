package import Crawl
package import JobFiles
package import Planning

/// Progress of a run for display.
///
/// The run does not depend on what the receiver does with it.
package enum RunEvent: Sendable {
    /// The first event, before any request: the run uses a server other than Apple's.
    case rehearsal(String)
    /// The run was started or joined; this much of it was already done.
    case began(StartedRun, RunProgress)
    case crawl(CrawlEvent)
    /// The items were counted again: some were added for customers mentioned in notifications, or with a revocation in
    /// their history, or other processes may have finished some.
    case counted(RunProgress)
    case remark(String)
    case publishing(FileOutput)
}
