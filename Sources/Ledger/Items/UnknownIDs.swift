import AppStoreModel

extension Ledger {
    /// Apple's codes for an ID that does not exist, or that is not of the kind that the stream requests.
    ///
    /// An ID can be right for one stream and wrong for another: the ID of an app transaction, or a transaction ID where Apple
    /// requires an original transaction ID.
    /// A later run would get the same answer, so only `retry` requests them again.
    package static let codesOfUnknownIDs: [String] = {
        let codes: [AppleErrorCode] = [
            .invalidTransactionId, .accountNotFound, .originalTransactionIdNotFound, .transactionIdNotFound,
            .appTransactionIdNotSupported, .invalidOriginalTransactionId,
        ]
        return codes.map { String($0.rawValue) }
    }()
}
