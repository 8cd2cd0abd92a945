extension ObjectShape {
    /// The commitment of a transaction.
    package static let transactionCommitment = ObjectShape(
        "TransactionCommitmentInfo",
        [
            Field("billingPeriodNumber", .count),
            Field("totalBillingPeriods", .count),
            Field("commitmentExpiresDate", .moment),
            Field("commitmentPrice", .money),
        ]
    )

    /// The next commitment of a renewal.
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
