package import AppStoreModel

/// What one of Apple's error codes means for the item or the whole run.
package enum ErrorEffect: Equatable, Sendable {
    /// The item fails and keeps its cursor; the run continues.
    case failsItem
    /// Apple has nothing for the item: the same as a last page without records.
    case answersNothing
    /// The item starts again at its first page.
    ///
    /// It fails if it has started again too often in this run.
    case restartsItem
    /// The item's window starts again at the oldest date that Apple serves.
    ///
    /// The gap is recorded. The item fails if it has started again too often in this run.
    case shortensWindow
    /// The request is sent again after a short delay; then the item is postponed.
    case retriesSoon
    /// The request is sent again twice; then the item is postponed.
    case retriesTwice
    /// The item continues in Apple's other environment if the job allows it; otherwise it fails.
    case triesOtherEnvironment
    /// The run ends with 65: the job requests something that Apple refuses.
    case stopsRunForBadJob
    /// The run ends with 78: the app in the job file is not the app of the key.
    case stopsRunForOtherApp
}

extension [AppleErrorCode: ErrorEffect] {
    /// Codes that mean the same for every stream.
    ///
    /// Source: "App Store Server API error codes", read 2026-11. Cases that Apple leaves open are decided here.
    package static let ofEveryStream: [AppleErrorCode: ErrorEffect] = [
        .invalidAppIdentifier: .stopsRunForOtherApp,
        .appNotFound: .stopsRunForOtherApp,
        .appNotFoundRetryable: .retriesSoon,
        .generalInternal: .retriesTwice,
        // The filters are the same for all items of the job. So Apple would refuse them for every item.
        .startDateAfterEndDate: .stopsRunForBadJob,
        .invalidStartDate: .stopsRunForBadJob,
        .invalidEndDate: .stopsRunForBadJob,
        .invalidNotificationType: .stopsRunForBadJob,
        .multipleFiltersSupplied: .stopsRunForBadJob,
        .invalidSort: .stopsRunForBadJob,
        .invalidProductType: .stopsRunForBadJob,
        .invalidProductId: .stopsRunForBadJob,
        .invalidSubscriptionGroupIdentifier: .stopsRunForBadJob,
        .invalidExcludeRevoked: .stopsRunForBadJob,
        .invalidInAppOwnershipType: .stopsRunForBadJob,
        .invalidRevoked: .stopsRunForBadJob,
    ]

    /// Codes of endpoints with a transaction ID.
    package static let ofTransactionIDs: [AppleErrorCode: ErrorEffect] = [
        .invalidTransactionId: .failsItem,
        .accountNotFound: .failsItem,
        .accountNotFoundRetryable: .retriesSoon,
        .originalTransactionIdNotFound: .failsItem,
        .originalTransactionIdNotFoundRetryable: .retriesSoon,
        .transactionIdNotFound: .triesOtherEnvironment,
    ]

    /// Codes of endpoints with pages.
    package static let ofPages: [AppleErrorCode: ErrorEffect] = [
        .invalidRequestRevision: .restartsItem,
        .invalidPaginationToken: .restartsItem,
        .paginationTokenExpired: .restartsItem,
    ]

    /// The effects of both; `right` decides for a code in both.
    package static func + (left: Self, right: Self) -> Self {
        left.merging(right) { _, right in right }
    }
}
