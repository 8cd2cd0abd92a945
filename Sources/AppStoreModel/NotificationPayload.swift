extension ObjectShape {
    /// The payload of a signed notification, version 2.
    package static let notification = ObjectShape(
        "ResponseBodyV2DecodedPayload",
        [
            Field("notificationUUID", .text),
            Field("notificationType", .openText(notificationTypes)),
            Field("subtype", .openText(notificationSubtypes)),
            Field("version", .text),
            Field("data", .object(.notificationData)),
            Field("summary", .object(.notificationSummary)),
            Field("externalPurchaseToken", .object(.externalPurchaseToken)),
            Field("appData", .object(.notificationAppData)),
            Field("unclaimInfo", .object(.unclaimInfo)),
            Field("signedDate", .moment),
        ]
    )

    /// `MIGRATE` and `MIGRATION` both occur.
    ///
    /// Source: notificationType, App Store Server Notifications 2.23, read 2026-11.
    private static let notificationTypes: Set<String> = [
        "CONSUMPTION_REQUEST", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS", "DID_FAIL_TO_RENEW",
        "DID_RENEW", "EXPIRED", "EXTERNAL_PURCHASE_TOKEN", "GRACE_PERIOD_EXPIRED", "METADATA_UPDATE", "MIGRATE",
        "MIGRATION", "OFFER_REDEEMED", "ONE_TIME_CHARGE", "PRICE_CHANGE", "PRICE_INCREASE", "REFUND",
        "REFUND_DECLINED", "REFUND_REVERSED", "RENEWAL_EXTENDED", "RENEWAL_EXTENSION", "RESCIND_CONSENT", "REVOKE",
        "SUBSCRIBED", "TEST", "UNCLAIM_SEATS",
    ]

    /// Source: subtype, App Store Server Notifications 2.23, read 2026-11.
    private static let notificationSubtypes: Set<String> = [
        "ACCEPTED", "ACTIVE_TOKEN_REMINDER", "AUTO_RENEW_DISABLED", "AUTO_RENEW_ENABLED", "BILLING_RECOVERY",
        "BILLING_RETRY", "CREATED", "DECREASE_QUANTITY", "DOWNGRADE", "FAILURE", "GRACE_PERIOD", "INCREASE_QUANTITY",
        "INITIAL_BUY", "PENDING", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE", "RESUBSCRIBE", "SEATS", "SUMMARY",
        "UNREPORTED", "UPGRADE", "VOLUNTARY",
    ]
}
