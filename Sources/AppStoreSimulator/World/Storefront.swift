/// A country's App Store: its codes, its currency, and how it converts a price in US cents.
struct Storefront: Sendable {
    /// ISO 3166-1 alpha-3.
    let code: String
    let id: String
    /// ISO 4217.
    let currency: String
    /// Milliunits of the currency for one US cent.
    ///
    /// Made up for the simulator, not an exchange rate.
    private let milliunitsPerCent: Int64
    /// Prices are rounded up to a multiple of this many milliunits, like price tiers.
    private let step: Int64

    /// The next lower price that the storefront has.
    func roundedDown(_ milliunits: Int64) -> Int64 { milliunits / step * step }

    func price(cents: Int64) -> Int64 {
        (cents * milliunitsPerCent + step - 1) / step * step
    }

    static let unitedStates = Storefront(code: "USA", id: "143441", currency: "USD", milliunitsPerCent: 10, step: 10)

    static let all = [
        unitedStates,
        Storefront(code: "DEU", id: "143443", currency: "EUR", milliunitsPerCent: 10, step: 10),
        Storefront(code: "JPN", id: "143462", currency: "JPY", milliunitsPerCent: 1_500, step: 10_000),
        Storefront(code: "GBR", id: "143444", currency: "GBP", milliunitsPerCent: 8, step: 10),
        Storefront(code: "KOR", id: "143466", currency: "KRW", milliunitsPerCent: 13_000, step: 100_000),
        Storefront(code: "BRA", id: "143503", currency: "BRL", milliunitsPerCent: 50, step: 100),
        Storefront(code: "IND", id: "143467", currency: "INR", milliunitsPerCent: 830, step: 1_000),
        Storefront(code: "CHE", id: "143459", currency: "CHF", milliunitsPerCent: 9, step: 100),
        Storefront(code: "FRA", id: "143442", currency: "EUR", milliunitsPerCent: 10, step: 10),
        Storefront(code: "VNM", id: "143471", currency: "VND", milliunitsPerCent: 250_000, step: 1_000_000),
    ]
}
