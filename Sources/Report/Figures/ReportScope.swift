/// What the page's figures are about, and in how much detail the page has them.
struct ReportScope: Sendable {
    /// The bundle IDs.
    var apps: [String] = []
    /// The products, storefronts and currencies with a name, those with the most purchases first.
    var products: [String] = []
    var storefronts: [String] = []
    var currencies: [String] = []
    /// The countries and regions of the storefronts, in English.
    var countries: [String: String] = [:]
    /// How many further ones are summed, by segment.
    var others: [String: Int] = [:]
    /// The currency of converted amounts; `nil` without rates.
    var reporting: String?
    /// The oldest rate that each month's amounts are converted with, if it is older than ten days.
    var oldRates: [OldRate] = []
    /// From this day on, the first of a month, figures are by day; before it they are by month.
    var daysFrom: CalendarDay

    /// The names of a segment, from place 1.
    func names(_ segment: String) -> [String] {
        switch segment {
        case "app_id": apps
        case "product_id": products
        case "storefront": storefronts
        default: currencies
        }
    }

    /// The name of a place in a segment.
    func name(_ segment: String, _ place: Int) -> String {
        let names = names(segment)
        return names.indices.contains(place - 1) ? names[place - 1] : place == 0 ? "other" : "not told"
    }

    /// The name of a place for people: the country of a storefront.
    func title(_ segment: String, _ place: Int) -> String {
        let name = name(segment, place)
        return segment == "storefront" ? countries[name] ?? name : name
    }

    /// The currency of amounts that are shown first.
    var amounts: String? { reporting ?? currencies.first }
}

/// A rate that was carried forward for more than ten days.
struct OldRate: Sendable, Equatable {
    /// `2026-11`, of the amount.
    let month: String
    let currency: String
    /// The day of the rate.
    let day: String
    /// The age on the day of the amount.
    let days: Int
}

/// How many products, storefronts, currencies and days a page has in full.
struct ReportDetail: Sendable, Equatable {
    let products, storefronts, currencies: Int
    /// Months with figures by day, besides the present one.
    let months: Int

    /// From the finest one.
    static let all = [
        ReportDetail(products: 500, storefronts: 500, currencies: 100, months: 13),
        ReportDetail(products: 500, storefronts: 500, currencies: 100, months: 3),
        ReportDetail(products: 40, storefronts: 40, currencies: 30, months: 3),
        ReportDetail(products: 25, storefronts: 25, currencies: 20, months: 3),
        ReportDetail(products: 15, storefronts: 15, currencies: 15, months: 3),
        ReportDetail(products: 12, storefronts: 12, currencies: 12, months: 3),
        ReportDetail(products: 10, storefronts: 10, currencies: 10, months: 3),
        ReportDetail(products: 10, storefronts: 10, currencies: 10, months: 2),
        ReportDetail(products: 7, storefronts: 8, currencies: 8, months: 2),
        ReportDetail(products: 4, storefronts: 5, currencies: 5, months: 1),
        ReportDetail(products: 2, storefronts: 2, currencies: 2, months: 1),
    ]

    /// The place of the finest one that should fit.
    ///
    /// All charts together have about 125 bytes for each product and storefront in each month or day.
    ///
    /// - Parameters:
    ///   - cells: How many products and storefronts together have sales in a month.
    ///   - history: The months with sales.
    static func first(cells: Int, history: Int) -> Int {
        all.firstIndex { detail in
            min(cells, (detail.products + 1) * (detail.storefronts + 1)) * (history + 30 * (detail.months + 1))
                <= 19_200
        } ?? all.count - 1
    }
}
