package import AppStoreModel

/// What one of Apple's error codes means for the item or the whole run.
package enum ErrorEffect: Equatable, Sendable {
    /// The item fails and keeps its cursor; the run continues.
    case failsItem
    /// The item starts again at its first page, once.
    case restartsItem
    /// The item's window starts again, once, at the oldest date that Apple serves.
    ///
    /// The gap is recorded.
    case shortensWindow
    /// The request is sent again after a short delay; then the item is put off.
    case retriesSoon
    /// The request is sent again twice; then the item is put off.
    case retriesTwice
    /// The item continues in Apple's other environment if the job allows it; otherwise it fails.
    case triesOtherEnvironment
    /// The run ends with 65: the job requests something that Apple refuses.
    case stopsRunOfBadJob
    /// The run ends with 78: the app in the job file is not the app of the key.
    case stopsRunOfOtherApp
}

extension [AppleErrorCode: ErrorEffect] {
    /// Codes that mean the same for every stream.
    ///
    /// Source: "App Store Server API error codes", read 2026-11. Cases that Apple leaves open are decided here.
    package static let ofEveryStream: [AppleErrorCode: ErrorEffect] = [
        .invalidAppIdentifier: .stopsRunOfOtherApp,
        .appNotFound: .stopsRunOfOtherApp,
        .appNotFoundRetryable: .retriesSoon,
        .generalInternal: .retriesTwice,
        // Filters: what Apple refuses for one item it refuses for all, because they are the job's.
        .startDateAfterEndDate: .stopsRunOfBadJob,
        .invalidStartDate: .stopsRunOfBadJob,
        .invalidEndDate: .stopsRunOfBadJob,
        .invalidNotificationType: .stopsRunOfBadJob,
        .multipleFiltersSupplied: .stopsRunOfBadJob,
        .invalidSort: .stopsRunOfBadJob,
        .invalidProductType: .stopsRunOfBadJob,
        .invalidProductId: .stopsRunOfBadJob,
        .invalidSubscriptionGroupIdentifier: .stopsRunOfBadJob,
        .invalidExcludeRevoked: .stopsRunOfBadJob,
        .invalidInAppOwnershipType: .stopsRunOfBadJob,
        .invalidRevoked: .stopsRunOfBadJob,
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

    package static func + (left: Self, right: Self) -> Self {
        left.merging(right) { _, right in right }
    }
}
