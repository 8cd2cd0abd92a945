package import AppStoreModel
import JobPlan

/// How patient a crawl is.
package struct CrawlRules: Sendable {
    /// How often in a run an item is put off before it counts as failed.
    ///
    /// The first time for 30 s, then doubling.
    package var deferralsPerRun = 3
    /// How often in a run an item may begin again because Apple refused its cursor.
    package var restartsPerRun = 2
    /// Pages of one customer in one run; two hundred thousand records of one customer are a fault, not a history.
    package var pagesPerItem = 10_000
    /// Pages of one window of the whole app in one run; the busiest app's day has fewer.
    package var pagesPerWindow = 1_000_000
    /// Whether the run ends when 1 in 20 records fail verification; no longer once a process of it has ended for that.
    package var stopsForRejects = true
    /// Where an ID is tried once that production does not know; `nil` where the job does not allow it.
    package var otherEnvironment: AppStoreEnvironment?

    package init() {}

    /// Pages of `item` in one run, at most.
    func pages(of item: WorkItem) -> Int {
        TransactionID(item.key) == nil ? pagesPerWindow : pagesPerItem
    }

    /// How long an item is put off for the `count`-th time, from 1.
    package func deferral(_ count: Int) -> Duration {
        .seconds(30 << min(count - 1, 6))
    }
}
