extension ObjectShape {
    /// What a transaction says of an Advanced Commerce purchase.
    package static let advancedCommerceTransaction = ObjectShape(
        "AdvancedCommerceTransactionInfo",
        [
            Field("requestReferenceId", .text),
            Field("period", .advancedCommercePeriod),
            Field("taxCode", .text),
            // A decimal number in text.
            Field("taxRate", .text),
            Field("taxExclusivePrice", .money),
            Field("estimatedTax", .money),
            Field("descriptors", .object(.advancedCommerceDescriptors)),
            Field("items", .objectArray(.advancedCommerceTransactionItem)),
        ]
    )

    /// What a renewal says of an Advanced Commerce subscription.
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
