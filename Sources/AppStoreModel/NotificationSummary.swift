extension ObjectShape {
    /// What a notification about extending renewal dates for all subscribers carries: `summary`.
    package static let notificationSummary = ObjectShape(
        "Summary",
        [
            Field("bundleId", .text),
            Field("appAppleId", .integer64),
            Field("environment", .environment),
            Field("productId", .text),
            Field("requestIdentifier", .text),
            Field("storefrontCountryCodes", .textArray),
            Field("succeededCount", .integer64),
            Field("failedCount", .integer64),
        ]
    )
}
