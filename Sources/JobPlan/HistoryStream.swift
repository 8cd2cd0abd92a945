package import AppStoreModel

/// How transaction history is crawled: Apple's filters, with dates still as the operator wrote them.
///
/// A crawl in descending order begins at the beginning on every run: Apple forbids keeping its `revision`.
package struct HistoryStream: Equatable, Sendable {
    /// Never ``DateExpression/lastRun``.
    package let startDate: DateExpression?
    /// Never ``DateExpression/lastRun``.
    package let endDate: DateExpression?
    /// The other filters; lists are sorted and without repetition, dates are `nil`.
    package let filters: HistoryQuery

    /// Whether the last `revision` may be kept, so that the next run asks only for what is new.
    package var continuesFromRevision: Bool { filters.sort != .descending }

    /// The query to ask with, its dates frozen at `now`.
    ///
    /// Store it with the cursor and send it with every page.
    package func query(now: UnixMilliseconds) -> HistoryQuery {
        var query = filters
        query.startDate = startDate?.resolve(now: now, lastRun: nil)
        query.endDate = endDate?.resolve(now: now, lastRun: nil)
        return query
    }
}
