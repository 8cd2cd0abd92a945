extension ObjectShape {
    /// The payload of a signed transaction.
    package static let transaction = ObjectShape(
        "JWSTransactionDecodedPayload",
        [
            Field("transactionId", .text),
            Field("originalTransactionId", .text),
            // It occurs in payloads, but is missing in Apple's documentation.
            Field("previousOriginalTransactionId", .text),
            Field("webOrderLineItemId", .text),
            Field("appTransactionId", .text),
            Field("bundleId", .text),
            Field("environment", .environment),
            Field("productId", .text),
            Field("subscriptionGroupIdentifier", .text),
            Field(
                "type",
                .openText([
                    "Auto-Renewable Subscription", "Non-Consumable", "Consumable", "Non-Renewing Subscription",
                ])
            ),
            Field("transactionReason", .openText(["PURCHASE", "RENEWAL"])),
            Field("inAppOwnershipType", .openText(["ASSIGNED", "FAMILY_SHARED", "PURCHASED"])),
            Field("quantity", .count),
            Field("price", .money),
            Field("currency", .currency),
            Field("storefront", .storefront),
            Field("storefrontId", .text),
            Field("appAccountToken", .uuid),
            Field("purchaseDate", .moment),
            Field("originalPurchaseDate", .moment),
            Field("expiresDate", .moment),
            Field("isUpgraded", .boolean),
            Field("offerType", .offerType),
            Field("offerIdentifier", .text),
            Field("offerDiscountType", .offerDiscountType),
            Field("offerPeriod", .text),
            Field("revocationDate", .moment),
            Field("revocationReason", .openInteger([0: "another reason", 1: "an issue with the app"])),
            Field(
                "revocationType",
                .openText(["REFUND_FULL", "REFUND_PRORATED", "FAMILY_REVOKE", "ASSIGNMENT_REVOKE"])
            ),
            Field("revocationPercentage", .percentage),
            Field("billingPlanType", .billingPlanType),
            Field("commitmentInfo", .object(.transactionCommitment)),
            Field("additionalTransactionReason", .openText(["SEAT_ADDITION"])),
            Field("multiSeatInfo", .object(.transactionMultiSeat)),
            Field("advancedCommerceInfo", .object(.advancedCommerceTransaction)),
            Field("signedDate", .moment),
        ]
    )
}
