extension ObjectShape {
    /// The seats of a subscription that a customer bought for a group.
    ///
    /// Apple's `priceTiers` have no columns; `payload` has them. Source: TransactionMultiSeatInfo, App Store Server API 1.23,
    /// read 2026-11.
    package static let transactionMultiSeat = ObjectShape(
        "TransactionMultiSeatInfo",
        [
            Field("invitationManagement", .openText(["APPLE", "DEVELOPER"])),
            Field("revokedSeatQuantity", .count),
        ]
    )
}
