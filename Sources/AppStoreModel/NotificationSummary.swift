extension ObjectShape {
    /// The `summary` of a notification about extended renewal dates for all subscribers.
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
