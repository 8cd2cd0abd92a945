/// Customers whose lives are drawn by chance, and the rows that Apple's data would make of them.
///
/// The life of each customer is recorded as it is drawn, separately from the rows: the model reads the lives and never
/// the rows. All instants are seconds since 1970.
struct RandomCustomers {
    /// One stretch of a subscription, as it was.
    struct Stretch {
        enum Kind { case paid, trial, introductory, shared }

        let product: Product
        let kind: Kind
        let starts: Int
        /// Apple's expiresDate; `nil` when Apple names none.
        let expires: Int?
        /// When the customer could no longer use it; `nil` when that is unknown.
        var served: Int?
        /// Thousandths of a unit of currency; `nil` when Apple names none.
        let price: Int?
        let currency: String
        let isRenewal: Bool
        /// Apple's offerType of a trial or an introductory stretch: 1, or 3 for an offer code of a customer who comes back.
        var offerType = 1
        var isUpgraded = false
        var isExtended = false
        var revoked: Int?
        var graceUntil: Int?

        /// Whether the customer paid; what Apple does not tell the price of counts.
        var isPaid: Bool { (kind == .paid || kind == .introductory) && price != 0 }

        /// A customer who moves to another country pays in its currency.
        var storefront: String { currency == "EUR" ? "DEU" : "USA" }

        /// Thousandths of a unit of currency in 30 days; `nil` when the price is unknown, or the length of an offer.
        var monthly: Int? { kind == .introductory && expires == nil ? nil : price.map(product.monthly) }
    }

    struct Product: Hashable {
        let name: String
        /// ISO 8601.
        let period: String
        let days: ClosedRange<Int>
        let price: Int
        let monthly: @Sendable (Int) -> Int

        static func == (one: Product, other: Product) -> Bool { one.name == other.name }
        func hash(into hasher: inout Hasher) { hasher.combine(name) }

        static let catalog = [
            Product(name: "weekly", period: "P1W", days: 7...7, price: 1_990) { $0 * 4 },
            Product(name: "monthly", period: "P1M", days: 28...31, price: 9_990) { $0 },
            Product(name: "quarterly", period: "P3M", days: 90...92, price: 25_000) { ($0 + 1) / 3 },
            Product(name: "yearly", period: "P1Y", days: 365...366, price: 99_990) { ($0 + 6) / 12 },
        ]
    }

    /// What Apple last said of the renewal.
    struct Renewal {
        var signed: Int
        var isOn: Bool
        var isRetried = false
        var graceUntil: Int?
    }

    struct Subscription {
        let id: Int
        var stretches: [Stretch] = []
        var renewal: Renewal?
        /// Two subscriptions have the same customer.
        var customer: String { "u\(id / 2)" }
        /// Renewals that the customer turned off or on.
        var switches: [Switch] = []
        /// Requests for a refund, and decisions.
        var refunds: [RefundEvent] = []
    }

    struct Switch {
        let stretch: Int
        let at: Int
        let isOn: Bool
    }

    struct RefundEvent {
        enum Kind: String { case asked = "CONSUMPTION_REQUEST", refunded = "REFUND", declined = "REFUND_DECLINED" }

        let stretch: Int
        let at: Int
        let kind: Kind
    }

    /// A purchase that is no subscription.
    struct Sale {
        let id: Int
        let customer: String
        let product: String
        let at: Int
        let quantity: Int
        /// Of the whole quantity, in thousandths of a unit of currency.
        let price: Int
        let currency: String
        var revoked: Int?
        /// When a non-consumable was restored.
        var restored: Int?

        var storefront: String { currency == "EUR" ? "DEU" : "USA" }
    }

    private(set) var sales: [Sale] = []
    private(set) var subscriptions: [Subscription] = []
    /// Nothing happens within two hours of it, so that a test may take a while.
    let now: Int
    private var random: Chance

    init(count: Int, now: Int, seed: UInt64) {
        self.now = now
        random = Chance(state: seed)
        for id in 1...count {
            var subscription = live(id)
            addEvents(to: &subscription)
            subscriptions.append(subscription)
            if id % 5 == 0 { sales.append(sell(id)) }
        }
    }

    private mutating func sell(_ id: Int) -> Sale {
        let isForever = happens(30)
        let at = now - Int.random(in: 86_400...(400 * 86_400), using: &random)
        let quantity = isForever ? 1 : Int.random(in: 1...3, using: &random)
        var sale = Sale(
            id: id,
            customer: "u\(id / 2)",
            product: isForever ? "forever" : "coins",
            at: at,
            quantity: quantity,
            price: happens(10) ? 0 : isForever ? 29_990 : 1_990 * quantity,
            currency: happens(75) ? "USD" : "EUR"
        )
        if happens(10) { sale.revoked = min(at + days(1...20), now - 7_200) }
        if isForever, happens(50) { sale.restored = min(at + days(1...60), now - 7_200) }
        return sale
    }

    /// Draws what the customer and Apple did besides: renewals turned off and on, requests for a refund.
    private mutating func addEvents(to subscription: inout Subscription) {
        for (number, stretch) in subscription.stretches.enumerated() where stretch.kind != .shared {
            if happens(15) {
                let off = stretch.starts + Int.random(in: 60...40_000, using: &random)
                subscription.switches.append(Switch(stretch: number, at: off, isOn: false))
                if happens(40) { subscription.switches.append(Switch(stretch: number, at: off + 600, isOn: true)) }
            }
            if let revoked = stretch.revoked {
                if happens(60) {
                    let asked = revoked - Int.random(in: 60...90_000, using: &random)
                    subscription.refunds.append(RefundEvent(stretch: number, at: asked, kind: .asked))
                }
                subscription.refunds.append(RefundEvent(stretch: number, at: revoked, kind: .refunded))
            } else if happens(5) {
                let asked = stretch.starts + Int.random(in: 60...90_000, using: &random)
                subscription.refunds.append(RefundEvent(stretch: number, at: asked, kind: .asked))
                if happens(60) {
                    subscription.refunds.append(RefundEvent(stretch: number, at: asked + 3_600, kind: .declined))
                }
            }
        }
        subscription.switches.removeAll { $0.at > now - 7_200 }
        subscription.refunds.removeAll { $0.at > now - 7_200 }
    }

    private static let day = 86_400

    private mutating func days(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) * Self.day }

    private mutating func happens(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    /// The same instant, or one a few hours later when it is close to now.
    private func apart(_ instant: Int) -> Int { abs(instant - now) < 7_200 ? instant + 5 * 3_600 : instant }

    private mutating func live(_ id: Int) -> Subscription {
        var subscription = Subscription(id: id)
        let isShared = happens(5)
        var currency = happens(75) ? "USD" : "EUR"
        var product = Product.catalog[Int.random(in: 0..<4, using: &random)]
        var at = apart(now - Int.random(in: 86_400...(480 * 86_400), using: &random))
        // One in three begins on the first or at the end of a day, where months and days have their edges.
        if happens(33) { at = apart(at - at % Self.day) }
        var isRenewal = false
        var isFirst = true
        while at < now - 7_200 {
            if happens(2) { currency = currency == "USD" ? "EUR" : "USD" }
            var kind = Stretch.Kind.paid
            var offerType = 1
            let previous = subscription.stretches.last
            if isShared {
                kind = .shared
            } else if isFirst, happens(30) {
                kind = happens(70) ? .trial : .introductory
            } else if let previous, !isRenewal, happens(30) {
                kind = happens(50) ? .trial : .introductory
                offerType = 3
                if previous.kind == .introductory, happens(50) {
                    kind = .introductory
                    offerType = previous.offerType
                }
            } else if let previous, isRenewal, previous.kind == .introductory || previous.kind == .trial, happens(30) {
                // An offer of several periods.
                kind = previous.kind
                offerType = previous.offerType
            }
            var price: Int? = kind == .trial ? 0 : kind == .introductory ? product.price / 2 : product.price
            if kind == .paid, happens(3) { price = product.price + 1_000 }
            if kind == .paid, happens(1) { price = nil }
            let isExtended = kind == .paid && happens(4)
            let length = kind == .trial ? 7 * Self.day : days(product.days) + (isExtended ? days(10...90) : 0)
            let expires = apart(at + length)
            var stretch = Stretch(
                product: product,
                kind: kind,
                starts: at,
                expires: happens(1) ? nil : expires,
                served: expires,
                price: price,
                currency: currency,
                isRenewal: isRenewal,
                offerType: offerType,
                isExtended: isExtended
            )
            if stretch.expires == nil { stretch.served = nil }
            isFirst = false
            let next = end(&stretch, product: &product, renewal: &subscription.renewal, isRenewal: &isRenewal)
            subscription.stretches.append(stretch)
            guard let next else { break }
            at = apart(next)
        }
        return subscription
    }

    /// Draws the end of a stretch; returns when the next one begins, `nil` when none does.
    private mutating func end(
        _ stretch: inout Stretch,
        product: inout Product,
        renewal: inout Renewal?,
        isRenewal: inout Bool
    ) -> Int? {
        isRenewal = true
        renewal = happens(80) ? Renewal(signed: stretch.starts, isOn: true) : nil
        // What Apple said before this stretch began does not apply to it.
        if happens(10) {
            renewal = Renewal(
                signed: stretch.starts - 3_600,
                isOn: true,
                isRetried: true,
                graceUntil: now + 5 * Self.day
            )
        }
        // Nothing is known of the end of a stretch without an expiresDate; the customer may buy again.
        guard let expires = stretch.expires else {
            isRenewal = false
            return stretch.starts + days(40...400)
        }
        let fate = Int.random(in: 0..<100, using: &random)
        switch fate {
        case ..<57:
            return expires
        case ..<62:  // renewed some seconds late, up to an hour
            let late = expires + Int.random(in: 5...3_600, using: &random)
            guard late < now - 7_200 else { return expires }
            stretch.served = late
            return late
        case ..<66:  // another product of the group from the next period on
            product = Product.catalog[Int.random(in: 0..<4, using: &random)]
            return expires
        case ..<70:  // an upgrade in the middle
            guard stretch.kind != .shared else { return expires }
            let moment = apart(
                stretch.starts + (expires - stretch.starts) * Int.random(in: 10...90, using: &random) / 100
            )
            guard moment < now - 7_200, moment < expires else { return expires }
            stretch.isUpgraded = true
            stretch.served = moment
            product = Product.catalog[3]
            isRenewal = false
            return moment
        case ..<74:  // a refund, in the period or after it
            let moment = apart(
                stretch.starts + (expires - stretch.starts) * Int.random(in: 1...150, using: &random) / 100
            )
            guard moment < now - 7_200 else { return expires }
            stretch.revoked = moment
            stretch.served = min(moment, expires)
            isRenewal = false
            return happens(50) ? nil : max(moment, expires) + days(1...60)
        case ..<80:  // recovered in the grace period: the service was never interrupted
            guard expires < now else { return expires }
            let grace = apart(expires + days(6...28))
            let recovered = apart(expires + (grace - expires) * Int.random(in: 5...95, using: &random) / 100)
            stretch.graceUntil = grace
            renewal = Renewal(signed: expires, isOn: true, isRetried: true, graceUntil: grace)
            guard recovered < now - 7_200 else {
                stretch.served = grace
                return nil
            }
            stretch.served = recovered
            return recovered
        case ..<83:  // not recovered in the grace period
            guard expires < now else { return expires }
            let grace = apart(expires + days(6...16))
            stretch.graceUntil = grace
            stretch.served = grace
            renewal = Renewal(signed: expires, isOn: true, isRetried: true, graceUntil: grace)
            return happens(50) ? nil : grace + days(1...40)
        case ..<87:  // retried without a grace period, and recovered after a gap
            guard expires < now else { return expires }
            renewal = Renewal(signed: expires, isOn: true, isRetried: true)
            return expires + days(1...50)
        case ..<93:  // cancelled, and bought again later
            renewal = Renewal(signed: stretch.starts, isOn: false)
            isRenewal = false
            return expires + days(1...120)
        default:  // cancelled
            renewal = Renewal(signed: stretch.starts, isOn: false)
            return nil
        }
    }
}

/// SplitMix64: the same seed draws the same customers.
struct Chance: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
