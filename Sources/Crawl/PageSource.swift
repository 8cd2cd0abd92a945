package import AppStoreModel
package import JobPlan

/// Where pages come from: Apple, or whoever stands in.
package protocol PageSource: Sendable {
    /// Asks once for the page after `item.cursor`.
    ///
    /// - Parameters:
    ///   - item: Whose page.
    ///   - departure: On `Timekeeper.monotonic`, the last moment at which the request may go out.
    ///   - onNewConnection: Whether a kept connection just ended under this request, so that it may go out on none.
    /// - Returns: The page.
    /// - Throws: ``AppStoreModel/RequestFailure``, ``AppStoreModel/RequestFailure/tooLate`` after that moment, or `CancellationError` when the task was cancelled.
    func page(of item: WorkItem, departingBy departure: Duration, onNewConnection: Bool) async throws -> Page

    /// Makes sure the next request carries a bearer token younger than the one Apple just refused.
    func renewToken() async
}
