package import AppStoreModel
import Basics
import LedgerSchema
import SignedData
import StrictJSON

/// The members of a signed transaction that show the effect of an action.
package struct VerifiedTransaction: Equatable, Sendable {
    package let transactionId: String
    package let originalTransactionId: String
    package let expiresDate: UnixMilliseconds?
    /// In lower case.
    package let appAccountToken: String?
    package let revocationDate: UnixMilliseconds?
    /// The `requestReferenceId` in `advancedCommerceInfo`, in lower case.
    package let requestReferenceId: String?

    package init(
        transactionId: String,
        originalTransactionId: String,
        expiresDate: UnixMilliseconds?,
        appAccountToken: String?,
        revocationDate: UnixMilliseconds? = nil,
        requestReferenceId: String? = nil
    ) {
        self.transactionId = transactionId
        self.originalTransactionId = originalTransactionId
        self.expiresDate = expiresDate
        self.appAccountToken = appAccountToken
        self.revocationDate = revocationDate
        self.requestReferenceId = requestReferenceId
    }
}

extension RecordVerifier {
    /// Verifies a signed transaction of the job's app, without storing it.
    ///
    /// - Returns: `nil` if the signature, the chain or the app is not accepted, or if an ID is missing.
    package func transaction(_ jws: String, now: UnixMilliseconds) -> VerifiedTransaction? {
        var rejected: [RejectedRecord] = []
        guard let record = verify(.text(jws), as: .transaction, now: now, rejected: &rejected),
            let original = record.payload.json["originalTransactionId"]?.string
        else { return nil }
        return VerifiedTransaction(
            transactionId: record.key,
            originalTransactionId: original,
            expiresDate: record.payload.json["expiresDate"]?.moment,
            appAccountToken: record.payload.json["appAccountToken"]?.string?.lowercased(),
            revocationDate: record.payload.json["revocationDate"]?.moment,
            requestReferenceId: record.payload.json["advancedCommerceInfo"]?["requestReferenceId"]?.string?.lowercased()
        )
    }
}

extension JSONElement {
    fileprivate var moment: UnixMilliseconds? { number?.flooredInt64.map(UnixMilliseconds.init(rawValue:)) }
}
