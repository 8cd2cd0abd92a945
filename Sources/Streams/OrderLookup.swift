package import AppStoreModel
package import JobSyntax

/// Look Up Order ID: the transactions of each order, from the order IDs in customers' receipts.
///
/// An answer has no pages, so every run requests each order once. Apple offers it only in production. An order that is
/// not valid is an answer, not an error. Source: Look Up Order ID, read 2026-11.
package struct OrderLookup: AppStoreStream {
    /// The key `orderIds`; `nil` only if the section has a problem.
    package let orderIds: IDList?

    package static let name = StreamName.orderLookup
    package static let requestsPerSecond = 10.0
    package static let isInSandbox = false
    package static let errorEffects = [AppleErrorCode: ErrorEffect].ofEveryStream + [.generalBadRequest: .failsItem]

    package func request(for item: WorkItem, now: UnixMilliseconds) -> AppStoreRequest? {
        OrderID(item.key).map { .get("/inApps/v1/lookup/\($0.text)") }
    }

    package static func page(_ body: [UInt8]) throws(RequestFailure) -> Page { try PageDecoder.order(body) }

    package static let keys = ["orderIds"]

    package init(_ section: Section) {
        let expected = "it must be a list of order IDs: list, csv or query"
        guard let source = section.section("orderIds", keys: Section.listKeys, required: expected),
            source.namesOneSource(of: Section.listKeys)
        else {
            orderIds = nil
            return
        }
        orderIds = source.idList(Self.itemKind)
    }

    package var planFingerprint: String? { orderIds.map { "orders \($0.fingerprint)" } }

    package var items: ItemSource { .ownList }
    package static let itemKind = IDKind.order
    package static let needsNoTransactionIDs: String? = ""
    package var ownList: (kind: IDKind, list: IDList)? { orderIds.map { (Self.itemKind, $0) } }
}

extension StreamName {
    package static let orderLookup = StreamName("orderLookup")
}
