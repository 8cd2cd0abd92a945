package import AppStoreModel
package import JobSyntax
package import LedgerSchema

/// Get App Transaction Info: each customer's download or purchase of the app itself.
///
/// An answer has one record and no pages, so every run requests each ID once. Source: Get App Transaction Info, read
/// 2026-11.
package struct AppTransaction: AppStoreStream {
    package static let name = StreamName.appTransaction
    package static let requestsPerSecond = 50.0
    package static let errorEffects =
        [AppleErrorCode: ErrorEffect].ofEveryStream + .ofTransactionIDs + [
            // The customer has no app transaction.
            .appTransactionDoesNotExist: .answersNothing
        ]

    package func request(for item: WorkItem, now: UnixMilliseconds) -> AppStoreRequest? {
        TransactionID(item.key).map { .get("/inApps/v1/transactions/appTransactions/\($0.text)") }
    }

    package static func page(_ body: [UInt8]) throws(RequestFailure) -> Page {
        try PageDecoder.single(body, field: "signedAppTransactionInfo", as: PageRecord.appTransaction)
    }

    package init(_ section: Section) {}

    package static let replayedKind: RecordKind? = .appTransaction
}

extension StreamName {
    package static let appTransaction = StreamName("appTransaction")
}
