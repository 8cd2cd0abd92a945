package import AppStoreModel
package import LedgerSchema

/// Get Refund History: the refunded transactions of each customer.
///
/// Apple offers no filters.
package struct RefundHistory: AppStoreStream {
    package enum Customers: String, CaseIterable, Sendable {
        case all
        /// Only customers in whose history a revocation or a REFUND notification was seen, by this run or any earlier
        /// one.
        ///
        /// Only a stream with one item per ID finds these customers, so the job needs such a stream too.
        case revoked
    }

    /// The key `for`.
    package let customers: Customers

    package static let name = StreamName.refundHistory
    package static let requestsPerSecond = 10.0
    package static let errorEffects = [AppleErrorCode: ErrorEffect].ofEveryStream + .ofTransactionIDs + .ofPages

    package func request(for item: WorkItem, now: UnixMilliseconds) -> AppStoreRequest? {
        TransactionID(item.key).map { .get("/inApps/v2/refund/lookup/\($0.text)", [("revision", item.cursor)]) }
    }

    package static func page(_ body: [UInt8]) throws(RequestFailure) -> Page {
        try PageDecoder.page(body, cursor: "revision", records: "signedTransactions") {
            PageDecoder.signed($0, as: PageRecord.refund)
        }
    }

    package static let keys = ["for"]

    package init(_ section: Section) {
        customers = section.choice("for", of: Customers.self) ?? .all
    }

    package func check(_ section: Section, beside streams: JobFile.Streams) {
        guard customers == .revoked, !streams.all.contains(where: { $0.items == .listedIDs }) else { return }
        section.problems.report(
            section.place,
            "requests only customers with a revocation, and no other stream of this job finds them",
            "add transactionHistory, or notificationHistory with scope transactions, or write for: all"
        )
    }

    package var planFingerprint: String? { customers == .revoked ? "revoked" : nil }

    package static let linesOfNewJob = [
        "# Only customers with a refund, because Apple's limit for this stream is a fifth of the others.",
        "refundHistory: {for: revoked}",
    ]

    package var items: ItemSource { customers == .revoked ? .customersWithRevocation : .listedIDs }
    package var keepsCursor: Bool { true }

    package static let replayedKind: RecordKind? = .transaction
    package static let returnsRefunds = true
}

extension StreamName {
    package static let refundHistory = StreamName("refundHistory")
}
