package import AppStoreModel
package import JobSyntax

/// Get Seat Info: how many seats of each listed subscription are free, and the claims that have one.
///
/// The listed IDs must be original transaction IDs of active subscriptions whose `invitationManagement` is DEVELOPER;
/// for others Apple answers with an error, and the item fails. An answer has no pages and is not signed, so every run
/// requests each ID once. Source: Get Seat Info, App Store Server API 1.23, read 2026-11.
package struct Seats: AppStoreStream {
    package static let name = StreamName.seats
    /// Apple documents no limit for this call, so it is the limit of Get Customer Groups.
    package static let requestsPerSecond = 50.0
    package static let isInProduction = false
    package static let errorEffects = [AppleErrorCode: ErrorEffect].ofEveryStream + .ofTransactionIDs
    package static let hasNumberedErrors = false

    package func request(for item: WorkItem, now: UnixMilliseconds) -> AppStoreRequest? {
        TransactionID(item.key).map { .get("/groups/v1/transactions/\($0.text)/seats") }
    }

    package static func page(_ body: [UInt8]) throws(RequestFailure) -> Page { try PageDecoder.seatInfo(body) }

    package init(_ section: Section) {}
}

extension StreamName {
    package static let seats = StreamName("seats")
}
