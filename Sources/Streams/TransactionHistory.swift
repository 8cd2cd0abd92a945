package import AppStoreModel
package import JobSyntax
package import LedgerSchema

/// Get Transaction History: all transactions of each customer, with Apple's filters.
///
/// A crawl in descending order starts at the first page in every run, because Apple forbids keeping its `revision`.
///
/// Version 1 has the same filters, pages and answer as version 2. Source: Get Transaction History V1, read 2026-11.
package struct TransactionHistory: AppStoreStream {
    package let version: EndpointVersion
    /// Never ``DateExpression/lastRun``.
    package let startDate: DateExpression?
    /// Never ``DateExpression/lastRun``.
    package let endDate: DateExpression?
    /// The other filters.
    ///
    /// Its lists are sorted and without repetition. Its dates are always `nil`, because ``startDate`` and ``endDate``
    /// are used instead.
    package let query: HistoryQuery

    // MARK: The call

    package static let name = StreamName.transactionHistory
    package static let requestsPerSecond = 50.0
    package static let errorEffects = [AppleErrorCode: ErrorEffect].ofEveryStream + .ofTransactionIDs + .ofPages

    package func request(for item: WorkItem, now: UnixMilliseconds) -> AppStoreRequest? {
        TransactionID(item.key).map {
            .get("/inApps/v\(version.rawValue)/history/\($0.text)", parameters(now: now) + [("revision", item.cursor)])
        }
    }

    /// The same query always gives the same parameters in the same order, because paging requires it.
    ///
    /// Source: Get Transaction History, query parameters, read 2026-11.
    private func parameters(now: UnixMilliseconds) -> QueryParameters {
        let start = startDate?.resolve(now: now, lastRun: nil)
        let dates = [("startDate", start), ("endDate", end(now: now))].map { ($0, $1.map { String($0.rawValue) }) }
        return dates
            + query.productIds.map { ("productId", $0) }
            + query.productTypes.map { ("productType", $0.rawValue) }
            + query.subscriptionGroupIdentifiers.map { ("subscriptionGroupIdentifier", $0) }
            + [
                ("inAppOwnershipType", query.inAppOwnershipType?.rawValue),
                ("revoked", query.revoked.map { String($0) }),
                ("sort", query.sort?.rawValue),
            ]
    }

    package static func page(_ body: [UInt8]) throws(RequestFailure) -> Page {
        try PageDecoder.page(body, cursor: "revision", records: "signedTransactions") {
            PageDecoder.signed($0, as: PageRecord.transaction)
        }
    }

    // MARK: The section of the job file

    package static let keys = [
        "startDate", "endDate", "productIds", "productTypes", "subscriptionGroupIdentifiers",
        "inAppOwnershipType", "revoked", "sort", EndpointVersion.key,
    ]

    /// Version 1 has a consumable only until the app finishes it, or when it was refunded or revoked.
    private static let omissionsOfVersion1 = ["finished consumables"]

    package static func omissions(of query: String) -> [String] {
        EndpointVersion.isOne(in: query) ? omissionsOfVersion1 : []
    }

    package init(_ section: Section) {
        version = EndpointVersion(section, of: "Get Transaction History", omitting: Self.omissionsOfVersion1)
        var query = HistoryQuery()
        let productIds = section.texts("productIds", "it must be a product ID", where: Self.isIdentifier)
        // Sorted, so that the order in the file does not change the query.
        query.productIds = Set(productIds ?? []).sorted()
        let productTypes = section.choices("productTypes", of: HistoryQuery.ProductType.self) ?? []
        query.productTypes = HistoryQuery.ProductType.allCases.filter(productTypes.contains)
        let groups = section.texts(
            "subscriptionGroupIdentifiers",
            "it must be a subscription group identifier",
            where: Self.isIdentifier
        )
        query.subscriptionGroupIdentifiers = Set(groups ?? []).sorted()
        query.inAppOwnershipType = section.choice("inAppOwnershipType", of: HistoryQuery.OwnershipType.self)
        query.revoked = section.flag("revoked")
        query.sort = section.choice("sort", of: HistoryQuery.Sort.self)
        self.query = query
        startDate = section.date("startDate", allowsLastRun: false)
        endDate = section.date("endDate", allowsLastRun: false)
        section.checkOrder(startDate, endDate)
    }

    /// Whether the text can be a product ID or group identifier.
    ///
    /// Apple may allow more characters in the future, so only text that cannot be one is refused.
    private static func isIdentifier(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    package var filters: [String: String?] {
        [
            "startDate": startDate?.fingerprint,
            "endDate": endDate?.fingerprint,
            "productIds": FilterFingerprint.list(query.productIds),
            "productTypes": FilterFingerprint.list(query.productTypes.map(\.rawValue)),
            "subscriptionGroupIdentifiers": FilterFingerprint.list(query.subscriptionGroupIdentifiers),
            "inAppOwnershipType": query.inAppOwnershipType?.rawValue,
            "revoked": query.revoked.map { "\($0)" },
            // Ascending is Apple's default, so naming it must not change the fingerprint.
            "sort": query.sort == .ascending ? nil : query.sort?.rawValue,
            EndpointVersion.key: version.filter,
        ]
    }

    package static let linesOfNewJob = ["transactionHistory: {}"]

    // MARK: The items and their records

    package var keepsCursor: Bool {
        query.sort != .descending && [startDate, endDate].allSatisfy { $0?.isAbsolute ?? true }
    }

    package func end(now: UnixMilliseconds) -> UnixMilliseconds? { endDate?.resolve(now: now, lastRun: nil) }

    package static let replayedKind: RecordKind? = .transaction
}

extension StreamName {
    package static let transactionHistory = StreamName("transactionHistory")
}
