import AppStoreModel

/// What the digits of a whole list say of it.
struct DigitCounts {
    /// An ID of Apple's has at least so many digits; a date in milliseconds has 13.
    private static let fewestDigits = 14
    /// A spreadsheet keeps so many digits of a number, and makes zeros of the others.
    private static let keptDigits = 15
    /// With so many zeros and no other digit in their places, a list is taken for rounded: of right lists, one in a thousand has them.
    private static let suspiciousZeros = 3

    private var zeros = 0
    private var hasOtherDigits = false
    private var hasLongID = false
    private var rounded: String?
    private var short: String?

    mutating func note(_ id: String) {
        if Self.looksLikeTransactionID(id) { hasLongID = true } else { short = short ?? id }
        guard id.utf8.count > Self.keptDigits else { return }
        let rest = id.utf8.dropFirst(Self.keptDigits)
        if rest.allSatisfy({ $0 == UInt8(ascii: "0") }) {
            zeros += rest.count
            rounded = rounded ?? id
        } else {
            hasOtherDigits = true
        }
    }

    /// One of the IDs, if every digit after the fifteenth is zero in all of them.
    var roundedExample: String? { hasOtherDigits || zeros < Self.suspiciousZeros ? nil : rounded }

    /// One of the numbers, if none of them is as long as an ID of Apple's.
    var shortExample: String? { hasLongID ? nil : short }

    /// Whether a text has as many digits as an ID of Apple's, and is no date such as 20261127213000.
    static func looksLikeTransactionID(_ text: String) -> Bool {
        guard TransactionID(text) != nil, text.utf8.count >= fewestDigits else { return false }
        return !(text.utf8.count == fewestDigits && (text.hasPrefix("20") || text.hasPrefix("19")))
    }
}
