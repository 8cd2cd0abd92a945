package import AppStoreModel
package import JobSyntax
package import LedgerSchema

/// Get Refund History: the refunded transactions of each customer.
///
/// Apple offers no filters. Version 1 takes only an original transaction ID, and answers once, with at most 50 refunds.
/// Source: Get Refund History V1, read 2026-11.
package struct RefundHistory: AppStoreStream {
    package enum Customers: String, CaseIterable, Sendable {
        case all
        /// Only customers in whose history a revocation or a REFUND notification was seen, by this run or any earlier
        /// one.
        ///
        /// Only a stream with one item per ID finds these customers, so the job needs such a stream too.
        case revoked
    }

    package let version: EndpointVersion
    /// The key `for`.
    package let customers: Customers

    package static let name = StreamName.refundHistory
    package static let requestsPerSecond = 10.0
    package static let errorEffects =
        [AppleErrorCode: ErrorEffect].ofEveryStream + .ofTransactionIDs + .ofPages + [
            // Version 1: the ID is one of a transaction, but not an original one.
            .invalidOriginalTransactionId: .failsItem
        ]

    package func request(for item: WorkItem, now: UnixMilliseconds) -> AppStoreRequest? {
        TransactionID(item.key).map {
            .get("/inApps/v\(version.rawValue)/refund/lookup/\($0.text)", [("revision", item.cursor)])
        }
    }

    package static func page(_ body: [UInt8]) throws(RequestFailure) -> Page {
        try PageDecoder.page(body, cursor: "revision", records: "signedTransactions") {
            PageDecoder.signed($0, as: PageRecord.refund)
        }
    }

    package func page(_ body: [UInt8]) throws(RequestFailure) -> Page {
        guard version == .one else { return try Self.page(body) }
        return try PageDecoder.unpagedList(body, records: "signedTransactions") {
            [PageDecoder.signed($0, as: PageRecord.refund)]
        }
    }

    package static let keys = ["for", EndpointVersion.key]

    private static let omissionsOfVersion1 = ["all but the 50 latest refunds of a customer"]

    package static func omissions(of query: String) -> [String] {
        EndpointVersion.isOne(in: query) ? omissionsOfVersion1 : []
    }

    package var filters: [String: String?] { [EndpointVersion.key: version.filter] }

    package init(_ section: Section) {
        version = EndpointVersion(section, of: "Get Refund History", omitting: Self.omissionsOfVersion1)
        customers = section.choice("for", of: Customers.self) ?? .all
    }

    package func check(_ section: Section, beside streams: JobStreams) {
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
    /// Version 1 has no cursor, so every run requests all of it.
    package var keepsCursor: Bool { version == .two }

    package static let replayedKind: RecordKind? = .transaction
    package static let returnsRefunds = true
}

extension StreamName {
    package static let refundHistory = StreamName("refundHistory")
}
