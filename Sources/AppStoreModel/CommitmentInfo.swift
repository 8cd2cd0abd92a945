extension ObjectShape {
    /// What a transaction says about the commitment it belongs to.
    package static let transactionCommitment = ObjectShape(
        "TransactionCommitmentInfo",
        [
            Field("billingPeriodNumber", .integer32),
            Field("totalBillingPeriods", .integer32),
            Field("commitmentExpiresDate", .moment),
            Field("commitmentPrice", .money),
        ]
    )

    /// What a renewal says about the commitment that follows.
    package static let renewalCommitment = ObjectShape(
        "RenewalCommitmentInfo",
        [
            Field("commitmentAutoRenewProductId", .text),
            Field("commitmentAutoRenewStatus", .autoRenewStatus),
            Field("commitmentRenewalBillingPlanType", .billingPlanType),
            Field("commitmentRenewalDate", .moment),
            Field("commitmentRenewalPrice", .money),
        ]
    )
}
