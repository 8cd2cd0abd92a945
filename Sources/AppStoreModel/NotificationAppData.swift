extension ObjectShape {
    /// The `appData` of a notification about a customer's app download.
    package static let notificationAppData = ObjectShape(
        "AppData",
        [
            Field("bundleId", .text),
            Field("appAppleId", .integer64),
            Field("environment", .environment),
            Field("signedAppTransactionInfo", .signed(.appTransaction)),
        ]
    )
}
