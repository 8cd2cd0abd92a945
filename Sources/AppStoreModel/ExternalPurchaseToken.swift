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
            Field("tokenType", .openText(["ACQUISITION", "CORE_TECHNOLOGY", "IN_APP", "LINK_OUT", "SERVICES"])),
        ]
    )
}
