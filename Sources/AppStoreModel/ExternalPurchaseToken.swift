extension ObjectShape {
    /// What a notification about purchases outside the App Store carries: `externalPurchaseToken`.
    ///
    /// It has no `environment`: an `externalPurchaseId` that begins with `SANDBOX` is of the sandbox.
    package static let externalPurchaseToken = ObjectShape(
        "ExternalPurchaseToken",
        [
            Field("externalPurchaseId", .text),
            Field("bundleId", .text),
            Field("appAppleId", .integer64),
            Field("tokenCreationDate", .moment),
            Field("tokenExpirationDate", .moment),
            // Apple lists no values, so none is unknown.
            Field("tokenType", .text),
        ]
    )
}
