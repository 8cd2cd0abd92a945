package import AppStoreModel
package import Crawl
package import Ledger

/// Lets the crawl's rate limiters take units from the ledger's budget.
extension BudgetLedger: RateLedger {
    package func take(_ stream: StreamName, atMost count: Int) async throws -> RateGrant {
        let grant: Grant = try await take(stream, atMost: count)
        return RateGrant(granted: grant.granted, wait: grant.wait, clock: grant.clock, isPaced: grant.reason == "pace")
    }
}
