/// The current state of one purchase.
struct Transaction: Sendable, Equatable {
    let id: UInt64
    let originalId: UInt64
    let product: Product
    var purchaseDate: Int64
    /// When the store recorded it, in milliseconds since 1970; `nil` when at the purchase.
    var recordedDate: Int64?
    var originalPurchaseDate: Int64
    var reason = Reason.purchase
    var expiresDate: Int64?
    var webOrderLineItemId: UInt64?
    var quantity: Int64 = 1
    var isFamilyShared = false
    /// When the customer upgraded to another product of the group.
    var upgradedDate: Int64?
    @Rare var offer: Offer?
    /// In milliunits of the storefront's currency.
    var price: Int64 = 0
    var billingPlanType: String?
    @Rare var commitment: Commitment?
    @Rare var revocation: Revocation?
    @Rare var advancedCommerce: AdvancedCommerce?
    /// `nil` for a purchase for the customer alone.
    @Rare var multiSeat: MultiSeat?
    /// What ``advancedCommerce`` was before each request of the app's server, oldest first.
    var earlierCommerce: [EarlierCommerce] = []
    /// When the app's server, or the customer after a price increase, turned automatic renewal off, in milliseconds since 1970; `nil` while
    /// it is on.
    var cancelledDate: Int64?
    /// `nil` for a period that ends when it was to end.
    @Rare var earlyEnd: EarlyEnd?
    /// Whether the subscription ended because the customer did not consent to a price increase.
    var isPriceRefused = false
    var previousOriginalId: UInt64?
    /// The purchase in whose order this one is; `nil` when the order begins with this one.
    var boughtWith: UInt64?
    /// The renewal date extensions that ``expiresDate`` contains, oldest first.
    var extensions: [RenewalExtension] = []
    /// The app account tokens that the app's server has set, oldest first.
    var accountTokens: [AccountToken] = []
    var isFinishedByServer = false

    enum Reason: String, Sendable {
        case purchase = "PURCHASE"
        case renewal = "RENEWAL"
    }

    struct Revocation: Sendable, Equatable {
        var date: Int64
        /// 1 for an issue with the app, 0 for any other reason.
        var reason: Int64
        var type: RevocationType
        /// Thousandths of a percent; `nil` for a family revocation.
        var percentage: Int64?
    }

    enum RevocationType: String, Sendable {
        case full = "REFUND_FULL"
        case prorated = "REFUND_PRORATED"
        case family = "FAMILY_REVOKE"
    }

    /// When the transaction last changed.
    ///
    /// The transaction history is sorted by it.
    var modifiedDate: Int64 {
        max(purchaseDate, recordedDate ?? 0, upgradedDate ?? 0, revocation?.date ?? 0, actionDate ?? 0)
    }

    /// When the app's server last changed the transaction, in milliseconds since 1970; `nil` when it never did.
    var actionDate: Int64? {
        [extensions.last?.date, accountTokens.last?.date, earlierCommerce.last?.date, earlyEnd?.date].compactMap(\.self)
            .max()
    }

    /// `nil` for a family revocation: the refund history does not list it.
    var refundDate: Int64? {
        guard let revocation, revocation.type != .family else { return nil }
        return revocation.date
    }

    /// When the customer asked for the refund: 12 hours before it, but not before the purchase.
    var refundRequestDate: Int64 { max(purchaseDate, (revocation?.date ?? .max) - 12 * Moment.hour) }

    /// Whether the app has finished the transaction.
    ///
    /// It leaves one in seven unfinished; its server can finish them.
    var isFinished: Bool { id % 7 != 0 || isFinishedByServer }

    /// The state of the transaction at an earlier moment, as a notification of that moment has it.
    func known(at moment: Int64) -> Transaction {
        var earlier = self
        if let date = revocation?.date, date > moment {
            earlier.revocation = nil
            earlier.advancedCommerce?.removeRefunds()
        }
        if let date = upgradedDate, date > moment { earlier.upgradedDate = nil }
        if let end = earlyEnd, end.date > moment {
            earlier.expiresDate = end.plannedDate
            earlier.earlyEnd = nil
            earlier.isPriceRefused = false
        }
        while let last = earlier.extensions.last, last.date > moment {
            earlier.expiresDate = earlier.expiresDate.map { $0 - last.length }
            earlier.extensions.removeLast()
        }
        earlier.accountTokens.removeAll { $0.date > moment }
        while let last = earlier.earlierCommerce.last, last.date > moment {
            earlier.advancedCommerce = last.commerce
            earlier.earlierCommerce.removeLast()
        }
        if let date = cancelledDate, date > moment { earlier.cancelledDate = nil }
        return earlier
    }
}

/// A period that the simulator has ended before its time, on request.
struct EarlyEnd: Sendable, Equatable {
    /// When it ended, in milliseconds since 1970.
    let date: Int64
    /// When it was to end, in milliseconds since 1970.
    let plannedDate: Int64
}

/// What an Advanced Commerce purchase was before a request of the app's server.
struct EarlierCommerce: Sendable, Equatable {
    /// When it was changed, in milliseconds since 1970.
    let date: Int64
    /// `nil` before a migration.
    let commerce: AdvancedCommerce?
}

/// A yearly commitment with monthly payments.
struct Commitment: Sendable, Equatable {
    static let periods: Int64 = 12

    let periodNumber: Int64
    var expiresDate: Int64
    let price: Int64
}
