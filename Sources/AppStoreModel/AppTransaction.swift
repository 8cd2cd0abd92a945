extension ObjectShape {
    /// The payload of a signed app transaction; its `receiptCreationDate` corresponds to `signedDate` of other
    /// payloads.
    package static let appTransaction = ObjectShape(
        "AppTransaction",
        [
            Field("appTransactionId", .text),
            Field("bundleId", .text),
            Field("appAppleId", .integer64),
            Field("receiptType", .environment),
            Field("applicationVersion", .text),
            Field("versionExternalIdentifier", .integer64),
            Field("receiptCreationDate", .moment),
            Field("originalPurchaseDate", .moment),
            Field("originalApplicationVersion", .text),
            Field("originalPlatform", .openText(["iOS", "macOS", "tvOS", "visionOS"])),
            Field("preorderDate", .moment),
            Field("deviceVerification", .text),
            Field("deviceVerificationNonce", .uuid),
            // Apple documents CONSUMER for the server API; StoreKit has stores of organizations, too.
            Field("storeType", .openText(["CONSUMER"])),
        ]
    )
}
