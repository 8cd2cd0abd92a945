import AppStoreModel

/// The state of a subscription at one moment.
enum SubscriptionState: Sendable, Equatable {
    case active
    case autoRenewOff
    case offerAccepted(Offer)
    case productChange(to: String)
    case billingRetry
    case gracePeriod
    /// 1 cancelled, 2 billing error, 3 price not accepted, 4 product gone, 5 other.
    case expired(intent: Int64)
    case priceIncrease(accepted: Bool)
    case revoked

    /// Apple's `status`.
    var status: Int64 {
        switch self {
        case .active, .autoRenewOff, .offerAccepted, .productChange, .priceIncrease: 1
        case .expired: 2
        case .billingRetry: 3
        case .gracePeriod: 4
        case .revoked: 5
        }
    }

    var renewsAutomatically: Bool {
        switch self {
        case .autoRenewOff, .expired, .revoked: false
        case .active, .offerAccepted, .productChange, .billingRetry, .gracePeriod, .priceIncrease: true
        }
    }
}

/// The content of `signedRenewalInfo`, which stands next to a subscription's transaction in notifications and statuses.
struct Renewal: Sendable, Equatable {
    /// In milliseconds: 16 days, of Apple's choices 3, 16 and 28.
    static let gracePeriod = 16 * Moment.day

    /// The latest transaction of the subscription.
    let transaction: Transaction
    let state: SubscriptionState

    /// The JSON that is signed.
    ///
    /// Source: `JWSRenewalInfoDecodedPayload`, read 2026-11.
    ///
    /// - `signedDate`: Milliseconds since 1970; `nil` leaves it out, for the part that is the same in every signature.
    func payload(of customer: CustomerIdentity, in app: SimulatedApp, signedDate: Int64?) -> [UInt8] {
        let product = transaction.product
        let next = nextProduct
        let price = customer.storefront.price(cents: product.cents)
        let offer = nextOffer
        return jsonObject {
            $0.member("expirationIntent", expirationIntent)
            $0.member("originalTransactionId", String(transaction.originalId))
            $0.member("autoRenewProductId", next)
            $0.member("productId", product.id)
            $0.member("autoRenewStatus", state.renewsAutomatically ? Int64(1) : 0)
            $0.member("renewalPrice", renewalPrice(of: customer, withoutChange: price))
            $0.member("currency", customer.storefront.currency)
            $0.member("isInBillingRetryPeriod", isInBillingRetry)
            $0.member("priceIncreaseStatus", priceIncreaseStatus)
            $0.member(
                "gracePeriodExpiresDate",
                state == .gracePeriod ? transaction.expiresDate.map { $0 + Self.gracePeriod } : nil
            )
            $0.member("offerType", offer?.type)
            $0.member("offerIdentifier", offer?.identifier)
            $0.member("offerDiscountType", offer?.discount.rawValue)
            $0.member("offerPeriod", offer?.period)
            $0.member("signedDate", signedDate)
            $0.member("environment", app.environment.rawValue)
            $0.member("recentSubscriptionStartDate", transaction.originalPurchaseDate)
            $0.member("renewalDate", transaction.expiresDate)
            $0.member("eligibleWinBackOfferIds", state == .expired(intent: 1) ? ["winback.2026", "winback.free"] : nil)
            $0.member("appAccountToken", transaction.appAccountToken(of: customer))
            $0.member("appTransactionId", customer.appTransactionId)
            $0.member("renewalBillingPlanType", transaction.billingPlanType)
            $0.member("commitmentInfo", raw: transaction.commitment.map { commitmentInfo($0, next: next) })
            $0.member("advancedCommerceInfo", raw: transaction.advancedCommerce?.renewalInfo(increase: itemIncrease))
            $0.member("renewalQuantity", transaction.multiSeat?.quantity)
            $0.member("multiSeatInfo", raw: transaction.multiSeat?.renewalInfo)
        }
    }

    /// With the offer and with a price increase that the customer has accepted.
    private func renewalPrice(of customer: CustomerIdentity, withoutChange price: Int64) -> Int64 {
        let full =
            if let commerce = transaction.advancedCommerce {
                commerce.renewalPrice(increase: itemIncrease)
            } else if state == .priceIncrease(accepted: true) {
                customer.storefront.price(cents: transaction.product.cents * 12 / 10)
            } else {
                price
            }
        return nextOffer.map { full * $0.percentPaid / 100 } ?? full
    }

    /// Whether the subscription renews to another product, as the signed renewal info shows it.
    var changesProduct: Bool { nextProduct != transaction.product.id }

    private var nextProduct: String {
        guard case .productChange(let product) = state else { return transaction.product.id }
        return product
    }

    private var nextOffer: Offer? {
        guard case .offerAccepted(let offer) = state else { return nil }
        return offer
    }

    private var expirationIntent: Int64? {
        guard case .expired(let intent) = state else { return nil }
        return intent
    }

    private var isInBillingRetry: Bool? {
        switch state {
        case .billingRetry, .gracePeriod: true
        case .expired: false
        case .active, .autoRenewOff, .offerAccepted, .productChange, .priceIncrease, .revoked: nil
        }
    }

    private var priceIncreaseStatus: Int64? {
        if case .priceIncrease(let accepted) = state { return accepted ? 1 : 0 }
        return state.status == 1 ? transaction.advancedCommerce?.priceIncreaseStatus : nil
    }

    private var itemIncrease: String? {
        switch state {
        case .priceIncrease(let accepted): accepted ? "ACCEPTED" : "PENDING"
        case .productChange: "SCHEDULED"
        default: nil
        }
    }

    private func commitmentInfo(_ commitment: Commitment, next: String) -> [UInt8] {
        jsonObject {
            $0.member("commitmentAutoRenewProductId", next)
            $0.member("commitmentAutoRenewStatus", state.renewsAutomatically ? Int64(1) : 0)
            $0.member("commitmentRenewalBillingPlanType", transaction.billingPlanType)
            $0.member("commitmentRenewalDate", commitment.expiresDate)
            $0.member("commitmentRenewalPrice", commitment.price)
        }
    }
}
