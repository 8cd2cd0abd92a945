/// Sums and counts of purchases, one line for each row of a view.
extension CustomerModel {
    /// A purchase of any kind, as its customer made it.
    private struct Purchase {
        let customer: String
        let product: String
        let storefront: String
        let currency: String
        let at: Int
        let price: Int?
        let quantity: Int
        let isPaid: Bool
        let revoked: Int?
        let isRenewal: Bool
        let hasOffer: Bool
        /// The number of the payment of a subscription; `nil` for other purchases and free periods.
        let payment: Int?

        var refunded: Int { revoked == nil ? 0 : price ?? 0 }
        var net: Int { (price ?? 0) - refunded }
    }

    private var purchases: [Purchase] {
        var all: [Purchase] = []
        for subscription in subscriptions {
            var payments = 0
            for stretch in subscription.stretches where stretch.kind != .shared {
                payments += stretch.isPaid ? 1 : 0
                all.append(
                    Purchase(
                        customer: subscription.customer,
                        product: stretch.product.name,
                        storefront: stretch.storefront,
                        currency: stretch.currency,
                        at: stretch.starts,
                        price: stretch.price,
                        quantity: 1,
                        isPaid: stretch.isPaid,
                        revoked: stretch.revoked,
                        isRenewal: stretch.isRenewal,
                        hasOffer: stretch.kind != .paid,
                        payment: stretch.isPaid ? payments : nil
                    )
                )
            }
        }
        return all
            + sales.map {
                Purchase(
                    customer: $0.customer,
                    product: $0.product,
                    storefront: $0.storefront,
                    currency: $0.currency,
                    at: $0.at,
                    price: $0.price,
                    quantity: $0.quantity,
                    isPaid: $0.price != 0,
                    revoked: $0.revoked,
                    isRenewal: false,
                    hasOffer: false,
                    payment: nil
                )
            }
    }

    /// Revenue: day, product, currency, purchases, new and later payments, gross, new, renewal, refunds, refunded.
    var revenueByDay: [String] {
        var cells = Cells()
        for purchase in purchases where purchase.isPaid {
            let place = "\(purchase.product) \(purchase.currency)"
            let price = purchase.price ?? 0
            let isFirst = purchase.payment == 1
            let isLater = purchase.payment.map { $0 > 1 } ?? false
            cells.add(
                "\(day(of: purchase.at)) \(place)",
                [1, isFirst ? 1 : 0, isLater ? 1 : 0, price, isFirst ? price : 0, isLater ? price : 0, 0, 0]
            )
            if let revoked = purchase.revoked {
                cells.add("\(day(of: revoked)) \(place)", [0, 0, 0, 0, 0, 0, 1, purchase.refunded])
            }
        }
        return cells.lines
    }

    /// Refunds by the month of the purchase: month, product, currency, purchases, refunded, gross, refunded amount.
    var refundRate: [String] {
        var cells = Cells()
        for purchase in purchases where purchase.isPaid {
            cells.add(
                "\(month(of: purchase.at)) \(purchase.product) \(purchase.currency)",
                [1, purchase.revoked == nil ? 0 : 1, purchase.price ?? 0, purchase.refunded]
            )
        }
        return cells.lines
    }

    /// ARPU: month, currency, customers, paying customers, net.
    var averageRevenue: [String] {
        var customers: [String: Set<String>] = [:]
        var payers: [String: Set<String>] = [:]
        var net = Cells()
        for purchase in purchases {
            let key = "\(month(of: purchase.at)) \(purchase.currency)"
            customers[key, default: []].insert(purchase.customer)
            if purchase.isPaid { payers[key, default: []].insert(purchase.customer) }
            net.add(key, [purchase.isPaid ? purchase.net : 0])
        }
        return customers.map {
            "\($0.key) \($0.value.count) \(payers[$0.key]?.count ?? 0) \(net.values[$0.key]?[0] ?? 0)"
        }
    }

    /// Lifetime value: cohort, currency, month number, customers, net.
    var lifetimeValue: [String] { lifetimeCells(converted: false).lines }

    /// The same in one currency: cohort, month number, customers, net.
    var lifetimeValueConverted: [String] { lifetimeCells(converted: true).lines }

    private func lifetimeCells(converted: Bool) -> Cells {
        var cells = Cells()
        let months = months
        let names = months.map(\.name)
        for (key, paid) in Dictionary(grouping: purchases.filter(\.isPaid), by: { "\($0.customer) \($0.currency)" }) {
            let currency = String(key.suffix(3))
            guard let first = paid.map(\.at).min(), let cohort = names.firstIndex(of: month(of: first)) else {
                continue
            }
            for (number, name) in names[cohort...].enumerated() {
                let net = paid.filter { month(of: $0.at) == name }.reduce(0) { $0 + $1.net }
                let place = converted ? "" : " \(currency)"
                let rate = converted ? Self.rate(currency, at: months[cohort + number].ends - 1) : 1
                cells.add("\(names[cohort])\(place) \(number)", [1, net * rate])
            }
        }
        return cells
    }

    /// Products: product, paid, free, refunded, customers, first and last sale in seconds since 1970.
    var productSummary: [String] {
        Dictionary(grouping: purchases, by: \.product).map { product, all in
            let counts: [Int] = [
                all.filter(\.isPaid).count, all.filter { !$0.isPaid }.count, all.filter { $0.revoked != nil }.count,
                Set(all.map(\.customer)).count, all.map(\.at).min() ?? 0, all.map(\.at).max() ?? 0,
            ]
            return "\(product) " + counts.map(String.init).joined(separator: " ")
        }
    }

    /// List prices: product, storefront, currency, price of a unit, purchases, renewals, first and last sale.
    var productPrices: [String] {
        let listed = purchases.filter { !$0.hasOffer && $0.price != nil }
        let groups = Dictionary(grouping: listed) {
            "\($0.product) \($0.storefront) \($0.currency) \(($0.price ?? 0) / $0.quantity)"
        }
        return groups.map { key, all in
            let counts: [Int] = [
                all.filter { !$0.isRenewal }.count, all.filter(\.isRenewal).count, all.map(\.at).min() ?? 0,
                all.map(\.at).max() ?? 0,
            ]
            return "\(key) " + counts.map(String.init).joined(separator: " ")
        }
    }

    /// Revenue in one currency: month, product, storefront, purchases, gross, refunded.
    var revenueConverted: [String] {
        var cells = Cells()
        for purchase in purchases {
            let place = "\(purchase.product) \(purchase.storefront)"
            let sold = (purchase.price ?? 0) * Self.rate(purchase.currency, at: purchase.at)
            cells.add("\(month(of: purchase.at)) \(place)", [purchase.isPaid ? 1 : 0, sold, 0])
            if let revoked = purchase.revoked, purchase.isPaid {
                let refunded = purchase.refunded * Self.rate(purchase.currency, at: revoked)
                cells.add("\(month(of: revoked)) \(place)", [0, 0, refunded])
            }
        }
        return cells.lines.filter { !$0.hasSuffix(" 0 0 0") }
    }

    /// Payments after a year of paid service: month, product, storefront, currency, purchases, gross, refunded.
    var afterAYear: [String] { laterCells(converted: false).lines }

    private func laterCells(converted: Bool) -> Cells {
        var cells = Cells()
        for subscription in subscriptions {
            var served = 0
            var lastCovered: Int?
            for (number, stretch) in subscription.stretches.enumerated() where stretch.kind != .shared {
                if let last = lastCovered, stretch.starts - last > 60 * 86_400 { served = 0 }
                if stretch.isPaid, served >= 365 * 86_400 {
                    let place = key(stretch.product.name, stretch.storefront, converted ? nil : stretch.currency)
                    let price = stretch.price ?? 0
                    let sold = converted ? price * Self.rate(stretch.currency, at: stretch.starts) : price
                    cells.add("\(month(of: stretch.starts)) \(place)", [1, sold, 0])
                    if let revoked = stretch.revoked {
                        let refunded = converted ? price * Self.rate(stretch.currency, at: revoked) : price
                        cells.add("\(month(of: revoked)) \(place)", [0, 0, refunded])
                    }
                }
                let covered = coveredUntil(number, of: subscription)
                if stretch.isPaid { served += paidUntil(stretch, covered: covered) - stretch.starts }
                lastCovered = max(lastCovered ?? 0, covered)
            }
        }
        return cells
    }

    /// When a stretch ended, without a grace period that was not recovered.
    ///
    /// A stretch that was refunded, or whose end is unknown, covers only its beginning.
    private func coveredUntil(_ number: Int, of subscription: RandomCustomers.Subscription) -> Int {
        let stretch = subscription.stretches[number]
        guard stretch.revoked == nil, let expires = stretch.expires, let served = stretch.served else {
            return stretch.starts
        }
        return max(continues(number, of: subscription) ? served : min(served, expires), stretch.starts)
    }

    /// When the paid service of a stretch ended: an extension is not paid.
    private func paidUntil(_ stretch: RandomCustomers.Stretch, covered: Int) -> Int {
        guard stretch.isExtended else { return covered }
        return min(covered, Calendar.adding(stretch.product.period, to: stretch.starts))
    }

    /// Proceeds with a commission of a quarter, and an eighth after a year: month, product, storefront, currency, net, proceeds, net
    /// after a year, proceeds by year.
    var proceeds: [String] {
        proceedsRows(converted: false).map { key, net, later in
            "\(key) \(net) \(rounded(net, 6)) \(later) \(rounded(net - later, 6, later, 7))"
        }
    }

    /// The same in one currency: month, product, storefront, net, proceeds by year.
    var proceedsConverted: [String] {
        proceedsRows(converted: true).map { key, net, later in
            "\(key) \(net) \(rounded(net - later, 6, later, 7))"
        }
    }

    private func proceedsRows(converted: Bool) -> [(key: String, net: Int, later: Int)] {
        var net = Cells()
        for purchase in purchases {
            let place = key(purchase.product, purchase.storefront, converted ? nil : purchase.currency)
            let price = purchase.price ?? 0
            let sold = converted ? price * Self.rate(purchase.currency, at: purchase.at) : price
            net.add("\(month(of: purchase.at)) \(place)", [sold])
            if let revoked = purchase.revoked, purchase.isPaid {
                let rate = converted ? Self.rate(purchase.currency, at: revoked) : 1
                net.add("\(month(of: revoked)) \(place)", [-purchase.refunded * rate])
            }
        }
        let later = laterCells(converted: converted).values
        return net.values.compactMap { key, value in
            let after = later[key].map { $0[1] - $0[2] } ?? 0
            return value[0] == 0 && after == 0 ? nil : (key, value[0], after)
        }
    }

    private func key(_ product: String, _ storefront: String, _ currency: String?) -> String {
        [product, storefront, currency].compactMap(\.self).joined(separator: " ")
    }

    /// Eighths of amounts, rounded half away from zero.
    private func rounded(_ amount: Int, _ eighths: Int, _ other: Int = 0, _ otherEighths: Int = 0) -> Int {
        Int((Double(amount * eighths + other * otherEighths) / 8).rounded())
    }

    /// How many units of the reporting currency, USD, a unit is worth on the day of an instant.
    ///
    /// The rate of EUR changes every ten days.
    static func rate(_ currency: String, at instant: Int) -> Int {
        currency == "EUR" ? 2 + instant / (10 * 86_400) % 2 : 1
    }

}

/// Sums by the text that begins the row.
struct Cells {
    private(set) var values: [String: [Int]] = [:]

    mutating func add(_ key: String, _ amounts: [Int]) {
        var sums = values[key] ?? amounts.map { _ in 0 }
        for (place, amount) in amounts.enumerated() { sums[place] += amount }
        values[key] = sums
    }

    var lines: [String] { values.map { "\($0.key) " + $0.value.map(String.init).joined(separator: " ") } }
}
