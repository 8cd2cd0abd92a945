extension ObjectShape {
    /// One line item of an Advanced Commerce transaction.
    package static let advancedCommerceTransactionItem = ObjectShape(
        "AdvancedCommerceTransactionItem",
        itemFields + [
            Field("revocationDate", .moment),
            Field("refunds", .objectArray(.advancedCommerceRefund)),
        ]
    )

    /// One line item of an Advanced Commerce subscription's next period.
    package static let advancedCommerceRenewalItem = ObjectShape(
        "AdvancedCommerceRenewalItem",
        itemFields + [Field("priceIncreaseInfo", .object(.advancedCommercePriceIncrease))]
    )

    private static let itemFields = [
        Field("SKU", .text),
        Field("description", .text),
        Field("displayName", .text),
        Field("price", .money),
        Field("offer", .object(.advancedCommerceOffer)),
    ]

    package static let advancedCommerceOffer = ObjectShape(
        "AdvancedCommerceOffer",
        [
            Field("period", .openText(["P3D", "P1W", "P2W", "P1M", "P2M", "P3M", "P6M", "P9M", "P1Y"])),
            Field("periodCount", .count),
            Field("price", .money),
            Field("reason", .openText(["ACQUISITION", "WIN_BACK", "RETENTION"])),
        ]
    )

    package static let advancedCommercePriceIncrease = ObjectShape(
        "AdvancedCommercePriceIncreaseInfo",
        [
            Field("price", .money),
            Field("status", .openText(["SCHEDULED", "PENDING", "ACCEPTED"])),
            Field("dependentSKUs", .textArray),
        ]
    )

    package static let advancedCommerceRefund = ObjectShape(
        "AdvancedCommerceRefund",
        [
            Field("refundDate", .moment),
            Field("refundAmount", .money),
            Field("refundType", .openText(["FULL", "PRORATED", "CUSTOM"])),
            Field(
                "refundReason",
                .openText([
                    "UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER",
                    "MODIFY_ITEMS_REFUND", "SIMULATE_REFUND_DECLINE",
                ])
            ),
        ]
    )
}
