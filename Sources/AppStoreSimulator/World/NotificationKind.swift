/// A notification type with a subtype, and what such a notification is about.
///
/// For a subscription, the subject includes its state when the notification is sent. ``all`` has every type. Source:
/// `notificationType` and `subtype`, read 2026-11.
struct NotificationKind: Sendable, Equatable {
    enum Subject: Sendable, Equatable {
        case subscription(SubscriptionState)
        case advancedSubscription(SubscriptionState)
        case oneTime
        case refunded
        case familyRevoked
        case summary
        case externalToken
        case appTransaction
        /// The app itself: a test notification.
        case app
    }

    let type: String
    let subtype: String?
    let subject: Subject

    init(_ type: String, _ subtype: String? = nil, about subject: Subject) {
        self.type = type
        self.subtype = subtype
        self.subject = subject
    }

    static let all: [NotificationKind] = [
        NotificationKind("SUBSCRIBED", "INITIAL_BUY", about: .subscription(.active)),
        NotificationKind("SUBSCRIBED", "RESUBSCRIBE", about: .subscription(.active)),
        NotificationKind("DID_CHANGE_RENEWAL_PREF", about: .subscription(.active)),
        NotificationKind("DID_CHANGE_RENEWAL_PREF", "UPGRADE", about: .subscription(.active)),
        NotificationKind(
            "DID_CHANGE_RENEWAL_PREF",
            "DOWNGRADE",
            about: .subscription(.productChange(to: "com.example.game.plus.monthly"))
        ),
        NotificationKind("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", about: .subscription(.active)),
        automaticRenewalOff,
        // The customer cancels after a notice of a higher price.
        NotificationKind("DID_CHANGE_RENEWAL_STATUS", about: .subscription(.autoRenewOff)),
        // An offer that begins a subscription, or begins it again, is a SUBSCRIBED notification since 2024.
        NotificationKind("OFFER_REDEEMED", about: .subscription(.offerAccepted(.loyalty))),
        NotificationKind("OFFER_REDEEMED", "UPGRADE", about: .subscription(.offerAccepted(.code))),
        NotificationKind("OFFER_REDEEMED", "DOWNGRADE", about: .subscription(.offerAccepted(.halfPrice))),
        NotificationKind("DID_RENEW", about: .subscription(.active)),
        NotificationKind("DID_RENEW", "BILLING_RECOVERY", about: .subscription(.active)),
        NotificationKind("EXPIRED", "VOLUNTARY", about: .subscription(.expired(intent: 1))),
        NotificationKind("EXPIRED", "BILLING_RETRY", about: .subscription(.expired(intent: 2))),
        NotificationKind("EXPIRED", "PRICE_INCREASE", about: .subscription(.expired(intent: 3))),
        NotificationKind("EXPIRED", "PRODUCT_NOT_FOR_SALE", about: .subscription(.expired(intent: 4))),
        NotificationKind("DID_FAIL_TO_RENEW", about: .subscription(.billingRetry)),
        NotificationKind("DID_FAIL_TO_RENEW", "GRACE_PERIOD", about: .subscription(.gracePeriod)),
        NotificationKind("GRACE_PERIOD_EXPIRED", about: .subscription(.billingRetry)),
        NotificationKind("PRICE_INCREASE", "PENDING", about: .subscription(.priceIncrease(accepted: false))),
        NotificationKind("PRICE_INCREASE", "ACCEPTED", about: .subscription(.priceIncrease(accepted: true))),
        NotificationKind("PRICE_CHANGE", about: .advancedSubscription(.priceIncrease(accepted: false))),
        NotificationKind(
            "METADATA_UPDATE",
            about: .advancedSubscription(.productChange(to: Product.advancedSubscription.id))
        ),
        NotificationKind("MIGRATION", about: .advancedSubscription(.active)),
        NotificationKind("MIGRATE", about: .advancedSubscription(.active)),
        NotificationKind("RENEWAL_EXTENDED", about: .subscription(.active)),
        NotificationKind("RENEWAL_EXTENSION", "FAILURE", about: .subscription(.expired(intent: 5))),
        NotificationKind("RENEWAL_EXTENSION", "SUMMARY", about: .summary),
        NotificationKind("ONE_TIME_CHARGE", about: .oneTime),
        NotificationKind("CONSUMPTION_REQUEST", about: .oneTime),
        NotificationKind("REFUND_DECLINED", about: .oneTime),
        NotificationKind("REFUND_REVERSED", about: .oneTime),
        NotificationKind("REFUND", about: .refunded),
        NotificationKind("REVOKE", about: .familyRevoked),
        NotificationKind("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED", about: .externalToken),
        NotificationKind("EXTERNAL_PURCHASE_TOKEN", "CREATED", about: .externalToken),
        NotificationKind("EXTERNAL_PURCHASE_TOKEN", "ACTIVE_TOKEN_REMINDER", about: .externalToken),
        NotificationKind("RESCIND_CONSENT", about: .appTransaction),
        NotificationKind("TEST", about: .app),
    ]

    static let automaticRenewalOff = NotificationKind(
        "DID_CHANGE_RENEWAL_STATUS",
        "AUTO_RENEW_DISABLED",
        about: .subscription(.autoRenewOff)
    )

    /// Not in ``all``: without a claim there is no example of it.
    static let unclaimSeats = NotificationKind("UNCLAIM_SEATS", about: .app)

    /// The kind with this type and subtype.
    static func named(_ type: String, _ subtype: String? = nil) -> NotificationKind? {
        all.first { $0.type == type && $0.subtype == subtype }
    }

    static let types = Set((all + [unclaimSeats]).map(\.type))
    static let subtypes = Set(all.compactMap(\.subtype))
}
