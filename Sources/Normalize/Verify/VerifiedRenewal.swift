package import AppStoreModel
import Basics
import LedgerSchema
import SignedData
import StrictJSON

/// The members of a signed renewal info that show the effect of an action.
package struct VerifiedRenewal: Equatable, Sendable {
    /// One item of an Advanced Commerce subscription's next period.
    package struct Item: Equatable, Sendable {
        package let sku: String
        /// Milliunits.
        package let price: Int64?
        /// The price in `priceIncreaseInfo`, in milliunits.
        package let increasedPrice: Int64?

        package init(sku: String, price: Int64?, increasedPrice: Int64? = nil) {
            self.sku = sku
            self.price = price
            self.increasedPrice = increasedPrice
        }
    }

    package let originalTransactionId: String
    package let autoRenewStatus: Int64?
    /// The `requestReferenceId` in `advancedCommerceInfo`, in lower case.
    package let requestReferenceId: String?
    package let items: [Item]

    package init(
        originalTransactionId: String,
        autoRenewStatus: Int64?,
        requestReferenceId: String? = nil,
        items: [Item] = []
    ) {
        self.originalTransactionId = originalTransactionId
        self.autoRenewStatus = autoRenewStatus
        self.requestReferenceId = requestReferenceId
        self.items = items
    }
}

extension RecordVerifier {
    /// Verifies a signed renewal info of the job's app, without storing it.
    ///
    /// - Returns: `nil` if the signature, the chain or the app is not accepted, or if the ID is missing.
    package func renewal(_ jws: String, now: UnixMilliseconds) -> VerifiedRenewal? {
        var rejected: [RejectedRecord] = []
        guard let record = verify(.text(jws), as: .renewalInfo, now: now, rejected: &rejected) else { return nil }
        let commerce = record.payload.json["advancedCommerceInfo"]
        return VerifiedRenewal(
            originalTransactionId: record.key,
            autoRenewStatus: record.payload.json["autoRenewStatus"]?.int64,
            requestReferenceId: commerce?["requestReferenceId"]?.string?.lowercased(),
            items: (commerce?["items"]?.array ?? []).compactMap { item in
                item["SKU"]?.string.map { sku in
                    VerifiedRenewal.Item(
                        sku: sku,
                        price: item["price"]?.int64,
                        increasedPrice: item["priceIncreaseInfo"]?["price"]?.int64
                    )
                }
            }
        )
    }
}
