package import AppStoreModel
package import JobPlan

/// Where pages come from: Apple, or whoever stands in.
package protocol PageSource: Sendable {
    /// Asks once for the page after `item.cursor`.
    ///
    /// - Parameters:
    ///   - item: Whose page.
    ///   - departure: On `Timekeeper.monotonic`, the last moment at which the request may go out.
    /// - Returns: The page.
    /// - Throws: ``AppStoreModel/RequestFailure``, ``AppStoreModel/RequestFailure/tooLate`` after that moment, or `CancellationError` when the task was cancelled.
    func page(of item: WorkItem, departingBy departure: Duration) async throws -> Page

    /// Makes sure the next request carries a bearer token younger than the one Apple just refused.
    func renewToken() async
}
