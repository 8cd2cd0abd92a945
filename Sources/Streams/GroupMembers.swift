package import AppStoreModel
package import JobSyntax
package import LedgerSchema

/// Get Group Members: the app transactions of the members of each group that the ledger knows.
///
/// Answers are not signed, so every run requests each group from its first page. Source: Get Group Members, App Store
/// Server API 1.22, read 2026-11.
package struct GroupMembers: AppStoreStream {
    package static let name = StreamName.groupMembers
    package static let requestsPerSecond = 50.0
    package static let isInProduction = false
    package static let errorEffects =
        [AppleErrorCode: ErrorEffect].ofEveryStream + .ofPages + [
            .invalidGroupId: .failsItem,
            .invalidLimit: .stopsRunForBadJob,
            // The group has ended, so it has no members.
            .groupNotFound: .answersNothing,
        ]

    package func request(for item: WorkItem, now: UnixMilliseconds) -> AppStoreRequest? {
        TransactionID(item.key).map {
            .get(
                "/groups/v1/group/\($0.text)",
                [("limit", String(PageDecoder.groupMemberLimit)), ("paginationToken", item.cursor)]
            )
        }
    }

    package static func page(_ body: [UInt8]) throws(RequestFailure) -> Page {
        try PageDecoder.page(body, cursor: "paginationToken", records: "members", read: PageDecoder.groupMember)
    }

    package init(_ section: Section) {}

    package var items: ItemSource { .knownGroups }
    package static let needsNoTransactionIDs: String? = ""
    package static let answerKind: AnswerKind? = .groupMember
}

extension StreamName {
    package static let groupMembers = StreamName("groupMembers")
}
