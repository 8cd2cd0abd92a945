extension ObjectShape {
    /// The seats of a subscription that a customer bought for a group.
    ///
    /// The `priceTiers` have no columns; `payload` has them. Source: TransactionMultiSeatInfo, App Store Server API 1.23,
    /// read 2026-11.
    package static let transactionMultiSeat = ObjectShape(
        "TransactionMultiSeatInfo",
        [
            Field("invitationManagement", .openText(["APPLE", "DEVELOPER"])),
            Field("revokedSeatQuantity", .count),
            Field("priceTiers", .objectArray(.multiSeatPriceTier)),
        ]
    )

    /// The seats of the next renewal.
    ///
    /// They have no columns either. Source: RenewalMultiSeatInfo.
    package static let renewalMultiSeat = ObjectShape(
        "RenewalMultiSeatInfo",
        [Field("renewalPriceTiers", .objectArray(.multiSeatPriceTier))]
    )

    /// A price of a seat, and the number of seats at that price.
    private static let multiSeatPriceTier = ObjectShape(
        "MultiSeatPriceTier",
        [Field("price", .money), Field("quantity", .count)]
    )
}
