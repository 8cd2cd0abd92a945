package import AppStoreModel
package import JobSyntax
package import LedgerSchema

/// Get All Subscription Statuses: Apple's own status of every subscription of each customer, with its signed records.
///
/// An answer has no pages, so every run requests each ID once. Source: Get All Subscription Statuses, read 2026-11.
package struct SubscriptionStatuses: AppStoreStream {
    /// The statuses to request, sorted; empty for all.
    package let statuses: [Int64]

    package static let name = StreamName.subscriptionStatuses
    package static let requestsPerSecond = 50.0
    package static let errorEffects =
        [AppleErrorCode: ErrorEffect].ofEveryStream + .ofTransactionIDs + [.invalidStatus: .stopsRunForBadJob]

    package func request(for item: WorkItem, now: UnixMilliseconds) -> AppStoreRequest? {
        TransactionID(item.key).map {
            .get("/inApps/v1/subscriptions/\($0.text)", statuses.map { ("status", String($0)) })
        }
    }

    package static func page(_ body: [UInt8]) throws(RequestFailure) -> Page {
        try PageDecoder.unpagedList(body, records: "data", read: PageDecoder.subscriptionGroup)
    }

    package static let keys = ["status"]

    package static let linesOfNewJob = [
        "# Apple's own status of every subscription, which shows what a missed notification would have said. One more request for",
        "# each customer:",
        "# subscriptionStatuses: {}",
    ]

    package init(_ section: Section) {
        let expected = "it must be 1 (active), 2 (expired), 3 (billing retry), 4 (grace period) or 5 (revoked)"
        statuses = Set(section.integers("status", in: 1...5, expected) ?? []).sorted()
    }

    package var filters: [String: String?] { ["status": FilterFingerprint.list(statuses.map { String($0) })] }

    package var listedStatuses: [Int64]? { statuses }

    /// Transactions and renewal infos are replayed from the archive; the statuses are not signed, so the archive has none.
    package static let replayedKind: RecordKind? = .renewalInfo
}

extension StreamName {
    package static let subscriptionStatuses = StreamName("subscriptionStatuses")
}
