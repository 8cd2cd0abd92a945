import AppStoreModel

extension Ledger {
    /// Apple's codes for an ID that does not exist.
    ///
    /// A later run would get the same answer, so only `retry` requests them again.
    package static let codesOfUnknownIDs: [String] = {
        let codes: [AppleErrorCode] = [
            .invalidTransactionId, .accountNotFound, .originalTransactionIdNotFound, .transactionIdNotFound,
        ]
        return codes.map { String($0.rawValue) }
    }()
}
