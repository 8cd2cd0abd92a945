package import AppStoreModel

/// What an error code of Apple's means for the item it answers, or for the whole run.
package enum ErrorEffect: Equatable, Sendable {
    /// The item fails and keeps its cursor; the run continues.
    case failsItem
    /// The item starts again at its first page, once.
    case restartsItem
    /// The item's window starts again where Apple's reach begins now, once; the gap is recorded.
    case shortensWindow
    /// The request is sent again after a short delay; then the item is put off.
    case retriesSoon
    /// The request is sent again twice; then the item is put off.
    case retriesTwice
    /// The item continues in Apple's other environment where the job allows it; else it fails.
    case triesOtherEnvironment
    /// The run ends with 65: the job requests something that Apple refuses.
    case stopsRunOfBadJob
    /// The run ends with 78: the app in the job file is not the app of the key.
    case stopsRunOfOtherApp
}

extension [AppleErrorCode: ErrorEffect] {
    /// Codes that mean the same for every stream.
    ///
    /// Source: "App Store Server API error codes", read 2026-11. What Apple leaves open is decided here.
    package static let ofEveryStream: [AppleErrorCode: ErrorEffect] = [
        .invalidAppIdentifier: .stopsRunOfOtherApp,
        .appNotFound: .stopsRunOfOtherApp,
        .appNotFoundRetryable: .retriesSoon,
        .generalInternal: .retriesTwice,
    ]

    /// Codes of calls that name a transaction ID.
    package static let ofTransactionIDs: [AppleErrorCode: ErrorEffect] = [
        .invalidTransactionId: .failsItem,
        .accountNotFound: .failsItem,
        .accountNotFoundRetryable: .retriesSoon,
        .originalTransactionIdNotFound: .failsItem,
        .originalTransactionIdNotFoundRetryable: .retriesSoon,
        .transactionIdNotFound: .triesOtherEnvironment,
    ]

    /// Codes of calls whose answers have pages.
    package static let ofPages: [AppleErrorCode: ErrorEffect] = [
        .invalidRequestRevision: .restartsItem,
        .invalidPaginationToken: .restartsItem,
        .paginationTokenExpired: .restartsItem,
    ]

    package static func + (left: Self, right: Self) -> Self {
        left.merging(right) { _, right in right }
    }
}
