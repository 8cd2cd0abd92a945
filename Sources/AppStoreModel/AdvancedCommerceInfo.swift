extension ObjectShape {
    /// The Advanced Commerce fields of a transaction.
    package static let advancedCommerceTransaction = ObjectShape(
        "AdvancedCommerceTransactionInfo",
        [
            Field("requestReferenceId", .text),
            Field("period", .advancedCommercePeriod),
            Field("taxCode", .text),
            // A decimal number as text.
            Field("taxRate", .text),
            Field("taxExclusivePrice", .money),
            Field("estimatedTax", .money),
            Field("descriptors", .object(.advancedCommerceDescriptors)),
            Field("items", .objectArray(.advancedCommerceTransactionItem)),
        ]
    )

    /// The Advanced Commerce fields of a renewal.
    package static let advancedCommerceRenewal = ObjectShape(
        "AdvancedCommerceRenewalInfo",
        [
            Field("requestReferenceId", .text),
            Field("consistencyToken", .text),
            Field("period", .advancedCommercePeriod),
            Field("taxCode", .text),
            Field("descriptors", .object(.advancedCommerceDescriptors)),
            Field("items", .objectArray(.advancedCommerceRenewalItem)),
        ]
    )

    package static let advancedCommerceDescriptors = ObjectShape(
        "AdvancedCommerceDescriptors",
        [
            Field("description", .text),
            Field("displayName", .text),
        ]
    )
}
