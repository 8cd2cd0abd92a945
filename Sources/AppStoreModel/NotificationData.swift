extension ObjectShape {
    /// The `data` of a notification about one customer.
    package static let notificationData = ObjectShape(
        "Data",
        [
            Field("bundleId", .text),
            Field("appAppleId", .integer64),
            Field("environment", .environment),
            Field("bundleVersion", .text),
            Field(
                "status",
                .openInteger([
                    1: "active", 2: "expired", 3: "in billing retry", 4: "in billing grace period", 5: "revoked",
                ])
            ),
            Field(
                "consumptionRequestReason",
                .openText([
                    "UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER",
                ])
            ),
            Field("signedTransactionInfo", .signed(.transaction)),
            Field("signedRenewalInfo", .signed(.renewalInfo)),
        ]
    )
}
