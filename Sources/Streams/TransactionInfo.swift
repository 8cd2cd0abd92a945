package import AppStoreModel
package import JobSyntax

/// Get Transaction Info: each listed transaction itself, as it is now.
///
/// An answer has one record and no pages, so every run requests each ID once. Source: Get Transaction Info, read
/// 2026-11.
package struct TransactionInfo: AppStoreStream {
    package static let name = StreamName.transactionInfo
    package static let requestsPerSecond = 50.0
    package static let errorEffects =
        [AppleErrorCode: ErrorEffect].ofEveryStream + .ofTransactionIDs + [
            // The ID identifies an app transaction.
            .appTransactionIdNotSupported: .failsItem
        ]

    package func request(for item: WorkItem, now: UnixMilliseconds) -> AppStoreRequest? {
        TransactionID(item.key).map { .get("/inApps/v1/transactions/\($0.text)") }
    }

    package static func page(_ body: [UInt8]) throws(RequestFailure) -> Page {
        try PageDecoder.single(body, field: "signedTransactionInfo", as: PageRecord.transaction)
    }

    package init(_ section: Section) {}
}

extension StreamName {
    package static let transactionInfo = StreamName("transactionInfo")
}
