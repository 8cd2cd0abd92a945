/// The body of Get Notification History.
///
/// Every page of one crawl must be requested with the same body.
///
/// `transactionId` and `notificationType` exclude each other (Apple answers 4000019). Source: Get Notification History,
/// NotificationHistoryRequest, read 2026-11.
package struct NotificationQuery: Hashable, Sendable {
    package var startDate: UnixMilliseconds
    package var endDate: UnixMilliseconds
    /// `nil` requests the whole app.
    package var transactionId: TransactionID?
    package var notificationType: String?
    package var notificationSubtype: String?
    package var onlyFailures: Bool?

    package init(startDate: UnixMilliseconds, endDate: UnixMilliseconds) {
        self.startDate = startDate
        self.endDate = endDate
    }
}
