package import AppStoreModel
package import JobSyntax
package import LedgerSchema

/// Get Customer Groups: the organizations and groups that each customer belongs to, with the roles in them.
///
/// An answer has no pages and is not signed, so every run requests each ID once. Membership is no entitlement: that is
/// in transactions. Source: Get Customer Groups, App Store Server API 1.22, read 2026-11.
package struct CustomerGroups: AppStoreStream {
    package static let name = StreamName.customerGroups
    package static let requestsPerSecond = 50.0
    package static let isInProduction = false
    package static let errorEffects =
        [AppleErrorCode: ErrorEffect].ofEveryStream + .ofTransactionIDs + [
            .invalidAssignedTransactionNotSupported: .failsItem
        ]

    package func request(for item: WorkItem, now: UnixMilliseconds) -> AppStoreRequest? {
        TransactionID(item.key).map { .get("/groups/v1/currentGroups/\($0.text)") }
    }

    package static func page(_ body: [UInt8]) throws(RequestFailure) -> Page {
        try PageDecoder.unpagedList(body, records: "groups") { [PageDecoder.customerGroup($0)] }
    }

    package init(_ section: Section) {}

    package static let answerKind: AnswerKind? = .customerGroup
}

extension StreamName {
    package static let customerGroups = StreamName("customerGroups")
}
