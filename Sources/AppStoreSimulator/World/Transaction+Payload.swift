import AppStoreModel

extension Transaction {
    /// The JSON that is signed.
    ///
    /// Source: `JWSTransactionDecodedPayload`, read 2026-11.
    ///
    /// - `signedDate`: Milliseconds since 1970; `nil` leaves it out, for the part that is the same in every signature.
    /// - `bundleId`: The app's own, except under the fault `wrongBundle`.
    func payload(of customer: CustomerIdentity, in app: SimulatedApp, signedDate: Int64?, bundleId: String) -> [UInt8] {
        jsonObject {
            $0.member("transactionId", String(id))
            $0.member("originalTransactionId", String(originalId))
            $0.member("previousOriginalTransactionId", previousOriginalId.map { String($0) })
            $0.member("webOrderLineItemId", webOrderLineItemId.map { String($0) })
            $0.member("bundleId", bundleId)
            $0.member("productId", product.id)
            $0.member("subscriptionGroupIdentifier", product.group)
            $0.member("purchaseDate", purchaseDate)
            $0.member("originalPurchaseDate", originalPurchaseDate)
            $0.member("expiresDate", expiresDate)
            $0.member("quantity", quantity)
            $0.member("type", product.kind.rawValue)
            $0.member("appAccountToken", appAccountToken(of: customer))
            $0.member("inAppOwnershipType", isFamilyShared ? "FAMILY_SHARED" : "PURCHASED")
            $0.member("signedDate", signedDate)
            $0.member("revocationReason", revocation?.reason)
            $0.member("revocationDate", revocation?.date)
            // An Advanced Commerce transaction has neither; its items have their refunds. Source: StoreKit's
            // `Transaction.revocationType` and `revocationPercentage`, read 2026-11.
            if advancedCommerce == nil {
                $0.member("revocationType", revocation?.type.rawValue)
                $0.member("revocationPercentage", revocation?.percentage)
            }
            $0.member("isUpgraded", upgradedDate.map { _ in true })
            $0.member("offerType", offer?.type)
            $0.member("offerIdentifier", offer?.identifier)
            $0.member("offerDiscountType", offer?.discount.rawValue)
            $0.member("offerPeriod", offer?.period)
            $0.member("environment", app.environment.rawValue)
            $0.member("transactionReason", reason.rawValue)
            $0.member("storefront", customer.storefront.code)
            $0.member("storefrontId", customer.storefront.id)
            $0.member("price", price)
            $0.member("currency", customer.storefront.currency)
            $0.member("appTransactionId", customer.appTransactionId)
            $0.member("billingPlanType", billingPlanType)
            $0.member("commitmentInfo", raw: commitment?.transactionInfo)
            $0.member("advancedCommerceInfo", raw: advancedCommerce?.transactionInfo)
            $0.member("multiSeatInfo", raw: multiSeat?.transactionInfo)
        }
    }
}

extension Commitment {
    fileprivate var transactionInfo: [UInt8] {
        jsonObject {
            $0.member("billingPeriodNumber", periodNumber)
            $0.member("commitmentExpiresDate", expiresDate)
            $0.member("commitmentPrice", price)
            $0.member("totalBillingPeriods", Self.periods)
        }
    }
}
