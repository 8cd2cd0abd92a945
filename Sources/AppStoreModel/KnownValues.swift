/// Known values of fields that several objects have.
extension FieldType {
    static let environment = openText(["Sandbox", "Production", "Xcode", "LocalTesting"])

    static let offerType = openInteger([
        1: "introductory offer", 2: "promotional offer", 3: "offer code", 4: "win-back offer",
    ])

    static let offerDiscountType = openText(["FREE_TRIAL", "PAY_AS_YOU_GO", "PAY_UP_FRONT", "ONE_TIME"])

    static let billingPlanType = openText(["BILLED_UPFRONT", "MONTHLY"])

    static let autoRenewStatus = openInteger([0: "off", 1: "on"])

    static let advancedCommercePeriod = openText(["P1W", "P1M", "P2M", "P3M", "P6M", "P1Y"])
}
