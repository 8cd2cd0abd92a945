/// The currencies in which an external purchase report can state amounts.
package enum ExternalPurchaseCurrency {
    /// Source: reportingCurrency, External Purchase Server API 1.2, 44 codes, read 2026-11.
    package static let reporting = [
        "AED", "AUD", "BGN", "BRL", "CAD", "CHF", "CLP", "CNY", "COP", "CZK", "DKK", "EGP", "EUR", "GBP", "HKD", "HUF",
        "IDR", "ILS", "INR", "JPY", "KRW", "KZT", "MXN", "MYR", "NGN", "NOK", "NZD", "PEN", "PHP", "PKR", "PLN", "QAR",
        "RON", "RUB", "SAR", "SEK", "SGD", "THB", "TRY", "TWD", "TZS", "USD", "VND", "ZAR",
    ]

    /// Whether an amount that was charged in `pricing` can be reported in `reporting`.
    ///
    /// A reporting currency is reported as it is, and any other one in euros or US dollars.
    package static func isAllowed(_ reporting: String, for pricing: String) -> Bool {
        self.reporting.contains(pricing) ? reporting == pricing : ["EUR", "USD"].contains(reporting)
    }
}
