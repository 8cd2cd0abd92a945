extension ObjectShape {
    /// The `externalPurchaseToken` of a notification about purchases outside the App Store.
    ///
    /// It has no `environment`. An `externalPurchaseId` that begins with `SANDBOX` belongs to the sandbox.
    package static let externalPurchaseToken = ObjectShape(
        "ExternalPurchaseToken",
        [
            Field("externalPurchaseId", .text),
            Field("bundleId", .text),
            Field("appAppleId", .integer64),
            Field("tokenCreationDate", .moment),
            Field("tokenExpirationDate", .moment),
            // Apple lists no values, so no value is reported as unknown.
            Field("tokenType", .text),
        ]
    )
}
