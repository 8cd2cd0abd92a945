/// A product of the simulated app.
///
/// A class, because millions of transactions refer to the same few products.
final class Product: Sendable, Equatable {
    enum Kind: String, Sendable {
        case autoRenewable = "Auto-Renewable Subscription"
        case nonRenewing = "Non-Renewing Subscription"
        case consumable = "Consumable"
        case nonConsumable = "Non-Consumable"
    }

    let id: String
    let kind: Kind
    /// The price in US cents.
    ///
    /// Storefronts convert it to their currencies.
    let cents: Int64
    let group: String?
    let period: Period?
    /// The ID of the product that subscribers upgrade to.
    let upgrade: String?

    init(id: String, kind: Kind, cents: Int64, group: String? = nil, period: Period? = nil, upgrade: String? = nil) {
        (self.id, self.kind, self.cents) = (id, kind, cents)
        (self.group, self.period, self.upgrade) = (group, period, upgrade)
    }

    static func == (first: Product, second: Product) -> Bool { first.id == second.id }
}

/// A subscription period.
///
/// Months have 30 days and years 365, to keep date arithmetic simple.
struct Period: Sendable, Equatable {
    /// ISO 8601, as Apple writes it.
    let text: String
    let days: Int64

    var milliseconds: Int64 { days * Moment.day }

    static let week = Period(text: "P1W", days: 7)
    static let month = Period(text: "P1M", days: 30)
    static let year = Period(text: "P1Y", days: 365)
}

extension Product {
    private static let plus = "21000001"
    private static let news = "21000002"
    private static let bundle = "com.example.game."

    static let subscriptions = [
        Product(
            id: bundle + "plus.monthly",
            kind: .autoRenewable,
            cents: 499,
            group: plus,
            period: .month,
            upgrade: bundle + "premium.monthly"
        ),
        Product(id: bundle + "premium.monthly", kind: .autoRenewable, cents: 999, group: plus, period: .month),
        Product(
            id: bundle + "news.weekly",
            kind: .autoRenewable,
            cents: 149,
            group: news,
            period: .week,
            upgrade: bundle + "news.monthly"
        ),
        Product(id: bundle + "news.monthly", kind: .autoRenewable, cents: 399, group: news, period: .month),
        Product(id: bundle + "plus.yearly", kind: .autoRenewable, cents: 3_999, group: plus, period: .year),
    ]

    /// Monthly payments with a yearly commitment.
    static let committed = Product(
        id: bundle + "plus.commitment",
        kind: .autoRenewable,
        cents: 349,
        group: plus,
        period: .month
    )

    static let oneTime = [
        Product(id: bundle + "coins.100", kind: .consumable, cents: 99),
        Product(id: bundle + "coins.1200", kind: .consumable, cents: 999),
        Product(id: bundle + "level.editor", kind: .nonConsumable, cents: 1_499),
        Product(id: bundle + "season.pass", kind: .nonRenewing, cents: 799),
    ]

    /// The generic products for items of the app's own catalogue (Advanced Commerce).
    static let advancedSubscription = Product(
        id: bundle + "ac.subscription",
        kind: .autoRenewable,
        cents: 1_299,
        group: "21000003",
        period: .month
    )
    static let advancedCharge = Product(id: bundle + "ac.charge", kind: .consumable, cents: 699)

    /// All products that customers subscribe to.
    static let autoRenewable = subscriptions + [committed, advancedSubscription]

    static func named(_ id: String) -> Product? {
        subscriptions.first { $0.id == id }
    }
}
