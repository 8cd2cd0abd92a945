package import AppStoreModel

/// How patient a crawl is.
package struct CrawlRules: Sendable {
    /// Requests for one page before its item is put off.
    package var attemptsPerPage = 5
    /// How often in a run an item is put off before it counts as failed.
    ///
    /// The first time for 30 s, then doubling.
    package var deferralsPerRun = 3
    /// How often in a run an item may begin again because Apple refused its cursor.
    package var restartsPerRun = 2
    /// Pages of one item in one run; two hundred thousand records of one customer are a fault, not a history.
    package var pagesPerItem = 10_000
    /// Where an ID is tried once that production does not know; `nil` where the job does not allow it.
    package var otherEnvironment: AppStoreEnvironment?

    package init() {}

    /// How long an item is put off for the `count`-th time, from 1.
    package func deferral(_ count: Int) -> Duration {
        .seconds(30 << min(count - 1, 6))
    }
}
