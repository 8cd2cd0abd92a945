package import AppStoreModel
import JobPlan

/// Limits on retries, restarts and pages of a crawl.
package struct CrawlRules: Sendable {
    /// How often an item is put off in a run before it fails.
    ///
    /// The first delay is 30 s, and each further delay is twice as long.
    package var deferralsPerRun = 3
    /// How often an item may start again in a run because Apple refused its cursor.
    package var restartsPerRun = 2
    /// The most pages of one customer in one run.
    ///
    /// 200,000 records of one customer are an error, not a history.
    package var pagesPerItem = 10_000
    /// The most pages of one app-wide window in one run.
    ///
    /// Even a day of a very busy app has fewer.
    package var pagesPerWindow = 1_000_000
    /// Whether the run ends when 1 in 20 records fail verification.
    ///
    /// False when a process of this run has already ended for that reason.
    package var stopsForRejects = true
    /// Where an ID is tried that production does not know; `nil` if the job does not allow it.
    package var otherEnvironment: AppStoreEnvironment?

    package init() {}

    /// The most pages of `item` in one run.
    func pages(of item: WorkItem) -> Int {
        TransactionID(item.key) == nil ? pagesPerWindow : pagesPerItem
    }

    /// How long an item is put off the `count`-th time; `count` starts at 1.
    package func deferral(_ count: Int) -> Duration {
        .seconds(30 << min(count - 1, 6))
    }
}
