extension ObjectShape {
    /// The payload of a signed renewal info.
    package static let renewalInfo = ObjectShape(
        "JWSRenewalInfoDecodedPayload",
        [
            Field("originalTransactionId", .text),
            Field("appTransactionId", .text),
            Field("environment", .environment),
            Field("productId", .text),
            Field("autoRenewProductId", .text),
            Field("autoRenewStatus", .autoRenewStatus),
            Field(
                "expirationIntent",
                .openInteger([
                    1: "the customer cancelled", 2: "a billing error",
                    3: "the customer did not consent to a price increase", 4: "the product was not available",
                    5: "another reason",
                ])
            ),
            Field("isInBillingRetryPeriod", .boolean),
            Field("gracePeriodExpiresDate", .moment),
            Field(
                "priceIncreaseStatus",
                .openInteger([0: "no response yet", 1: "consented, or notified where no consent is needed"])
            ),
            Field("recentSubscriptionStartDate", .moment),
            Field("renewalDate", .moment),
            Field("renewalPrice", .money),
            // The number of seats.
            Field("renewalQuantity", .count),
            Field("multiSeatInfo", .object(.renewalMultiSeat)),
            Field("currency", .currency),
            Field("renewalBillingPlanType", .billingPlanType),
            Field("offerType", .offerType),
            Field("offerIdentifier", .text),
            Field("offerDiscountType", .offerDiscountType),
            Field("offerPeriod", .text),
            Field("eligibleWinBackOfferIds", .textArray),
            Field("appAccountToken", .uuid),
            Field("commitmentInfo", .object(.renewalCommitment)),
            Field("advancedCommerceInfo", .object(.advancedCommerceRenewal)),
            Field("signedDate", .moment),
        ]
    )
}
