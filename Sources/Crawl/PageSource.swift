package import AppStoreModel
package import Streams

/// The source of pages: Apple's API, or a substitute in tests.
package protocol PageSource: Sendable {
    /// Sends one request for the page after `item.cursor`.
    ///
    /// - Parameters:
    ///   - departure: The last moment at which the request may be sent, on `Timekeeper.monotonic`.
    ///   - onNewConnection: Whether the request needs a new connection, because the last reused one was closed.
    /// - Throws: ``AppStoreModel/RequestFailure``, which is ``AppStoreModel/RequestFailure/tooLate`` after `departure`;
    ///   `CancellationError` when the task was cancelled.
    func page(of item: WorkItem, departingBy departure: Duration, onNewConnection: Bool) async throws -> Page

    /// Sends a request that is not about an item, and returns whether Apple answers it with records.
    ///
    /// `false` also if the request cannot be sent.
    func acceptsKey() async -> Bool
}
