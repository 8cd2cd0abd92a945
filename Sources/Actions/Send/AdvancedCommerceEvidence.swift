import ActionKinds
import AppStoreModel
import Basics
import Normalize
import StrictJSON

/// What signed data says about an Advanced Commerce request.
///
/// Apple puts the `requestReferenceId` of the last request into `advancedCommerceInfo` of the transaction and of the renewal info. It is
/// the ID of the row, so it proves that the request was applied. A later request replaces it, and then the effect can prove it.
struct AdvancedCommerceEvidence {
    let row: LeasedRow
    let records: SignedRecords
    /// The transaction ID in the input.
    let subject: String

    /// The evidence about a request that changes a subscription.
    func ofSubscription(_ effect: AdvancedCommerceEffect?) -> Evidence {
        let original = row.originalTransactionID ?? subject
        let transaction = records.transactions.filter { $0.originalTransactionId == original }
            .max { ($0.expiresDate?.rawValue ?? 0) < ($1.expiresDate?.rawValue ?? 0) }
        let renewal = records.renewals.first { $0.originalTransactionId == original }
        guard transaction != nil || renewal != nil else {
            return .undecided("Apple's answer has no transaction of \(original)")
        }
        if renewal?.requestReferenceId == requestID {
            return .applied("requestReferenceId of the renewal info of \(original)")
        }
        if let transaction, transaction.requestReferenceId == requestID {
            return .applied("requestReferenceId of transaction \(transaction.transactionId)")
        }
        if let place = effect.flatMap({ self.place(of: $0, transaction, renewal) }) { return .applied(place) }
        return without(renewal?.requestReferenceId ?? transaction?.requestReferenceId)
    }

    /// The evidence about a request that changes one transaction.
    var ofTransaction: Evidence {
        guard let found = records.transactions.first(where: { $0.transactionId == subject }) else {
            return .undecided("Apple's answer has no transaction \(subject)")
        }
        guard found.requestReferenceId == requestID else { return without(found.requestReferenceId) }
        return .applied("requestReferenceId of transaction \(subject)")
    }

    private var requestID: String { UUIDText.text(of: row.requestID) }

    /// Data without the request's ID: as it was, or with the ID of another request.
    private func without(_ found: String?) -> Evidence {
        let place = "requestReferenceId is \(found ?? "missing")"
        guard found == row.requestReferenceIDBefore else {
            return .undecided("\(place); another request may have replaced it")
        }
        return .notApplied("\(place), as before")
    }

    private func place(
        of effect: AdvancedCommerceEffect,
        _ transaction: VerifiedTransaction?,
        _ renewal: VerifiedRenewal?
    ) -> String? {
        switch effect {
        case .automaticRenewalIsOff: renewal?.autoRenewStatus == 0 ? "autoRenewStatus 0" : nil
        case .isRevoked:
            transaction?.revocationDate.map {
                "revocationDate \($0.iso8601) of transaction \(transaction?.transactionId ?? "")"
            }
        case .pricesAreChanged: renewal.flatMap { hasPrices($0) ? "the prices of the renewal info" : nil }
        }
    }

    /// Whether each item of the row has its new price, now or as an increase.
    private func hasPrices(_ renewal: VerifiedRenewal) -> Bool {
        let wanted = row.parameters.elements("items").compactMap(\.object)
        return !wanted.isEmpty
            && wanted.allSatisfy { item in
                guard let sku = item["SKU"]?.string, let price = item["price"]?.number?.int64,
                    let found = renewal.items.first(where: { $0.sku.isByteEqual(to: sku) })
                else { return false }
                return found.increasedPrice == price || (found.increasedPrice == nil && found.price == price)
            }
    }
}
