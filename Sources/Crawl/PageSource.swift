package import AppStoreModel
package import JobPlan

/// Where pages come from: Apple, or whoever stands in.
package protocol PageSource: Sendable {
    /// Asks once for the page after `item.cursor`.
    ///
    /// - Throws: ``AppStoreModel/RequestFailure``, or `CancellationError` when the task was cancelled.
    func page(of item: WorkItem) async throws -> Page

    /// Makes sure the next request carries a bearer token younger than the one Apple just refused.
    func renewToken() async
}
