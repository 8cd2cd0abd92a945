package import AppStoreModel
import Streams

/// The settings of a crawl: how often it tries again, how many pages it reads, and when it stops.
package struct CrawlRules: Sendable {
    /// How often an item is postponed in a run before it fails.
    ///
    /// The first delay is 30 s, and each further delay is twice as long.
    package var deferralsPerRun = 3
    /// How often an item may start again in a run because Apple refused its cursor or the start of its window.
    package var restartsPerRun = 2
    /// The most pages of one customer in one run.
    ///
    /// 10,000 pages have 200,000 records. No real customer has that many, so more pages are an error.
    package var pagesPerItem = 10_000
    /// The most pages of one app-wide window in one run.
    ///
    /// Even a day of a very busy app has fewer.
    package var pagesPerWindow = 1_000_000
    /// Whether the run ends when 1 in 20 records fail verification.
    ///
    /// False when a process of this run has already ended for that reason.
    package var stopsForRejects = true
    /// When answers with 401 end the run.
    package var keyPatience = KeyPatience()
    /// The environment in which IDs unknown to production are tried; `nil` if the job does not allow it.
    package var otherEnvironment: AppStoreEnvironment?

    package init() {}

    /// The most pages of `item` in one run.
    func pageLimit(of item: WorkItem) -> Int {
        TransactionID(item.key) == nil ? pagesPerWindow : pagesPerItem
    }

    /// How long an item is postponed: longer each time.
    ///
    /// - Parameter number: 1 when the item is postponed for the first time in a run.
    /// - Returns: 30 s for the first time, then twice as long each time, up to 32 min.
    package func delay(ofDeferral number: Int) -> Duration {
        .seconds(30 << min(number - 1, 6))
    }
}
