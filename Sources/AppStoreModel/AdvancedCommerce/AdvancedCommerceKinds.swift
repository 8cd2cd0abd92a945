import StrictJSON

/// The types of Apple's documentation that several objects have.
///
/// Source: Advanced Commerce API 1.2, data types and error codes, read 2026-11.
extension AdvancedCommerceField.Kind {
    package static let sku = Self.text(
        longest: 128,
        rule: AppleErrorCode.skuLengthExceeded.objectName,
        invalid: .invalidSKU
    )
    /// Apple documents the error of a longer one without its number.
    package static let currentSKU = Self.text(
        longest: 128,
        rule: "CurrentSKULengthExceededError",
        invalid: .invalidSKU
    )
    package static let displayName = Self.text(
        longest: 30,
        rule: AppleErrorCode.displayNameLengthExceeded.objectName,
        invalid: .invalidDisplayName
    )
    package static let description = Self.text(
        longest: 45,
        rule: AppleErrorCode.descriptionLengthExceeded.objectName,
        invalid: .invalidDescription
    )
    /// Milliunits.
    ///
    /// A free item costs 0.
    package static let price = Self.integer(0 ... .max, outside: .negativePrice)
    /// Milliunits.
    package static let proratedPrice = Self.integer(0 ... .max, outside: .negativeProratedPrice)
    /// Milliunits.
    ///
    /// It is an Int32 in Apple's documentation.
    package static let refundAmount = Self.integer(1...Int64(Int32.max), outside: .negativeRefundAmount)
    package static let period = Self.word(
        KeyTable(["P1W", "P1M", "P2M", "P3M", "P6M", "P1Y"]),
        invalid: .invalidRenewalPeriod
    )
    package static let offerPeriod = Self.word(
        KeyTable(["P3D", "P1W", "P2W", "P1M", "P2M", "P3M", "P6M", "P9M", "P1Y"]),
        invalid: .invalidOfferPeriod
    )
    package static let periodCount = Self.integer(1...12, outside: .invalidOfferPeriodCount)
    package static let offerReason = Self.word(
        KeyTable(["ACQUISITION", "WIN_BACK", "RETENTION"]),
        invalid: .invalidOfferReason
    )
    package static let changeReason = Self.word(
        KeyTable(["UPGRADE", "DOWNGRADE", "APPLY_OFFER"]),
        invalid: .invalidChangeReason
    )
    /// `SIMULATE_REFUND_DECLINE` is valid in the sandbox only.
    package static let refundReason = Self.word(
        KeyTable([
            "UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER",
            "MODIFY_ITEMS_REFUND", "SIMULATE_REFUND_DECLINE",
        ]),
        invalid: .invalidRefundReason
    )
    package static let refundType = Self.word(KeyTable(["FULL", "PRORATED", "CUSTOM"]), invalid: .invalidRefundType)
    /// A subscription that is revoked has no custom amount.
    package static let revokeRefundType = Self.word(KeyTable(["FULL", "PRORATED"]), invalid: .invalidRefundType)
    package static let effective = Self.word(KeyTable(["IMMEDIATELY", "NEXT_BILL_CYCLE"]), invalid: nil)
    /// ISO 4217.
    package static let currency = Self.code("USD", invalid: .invalidCurrency)
    /// ISO 3166-1 alpha-3.
    package static let storefront = Self.code("USA", invalid: .invalidStorefrontCountryCode)
    /// Apple documents no form; its codes look like C003-00-1.
    package static let taxCode = Self.text(
        longest: 128,
        rule: AppleErrorCode.invalidTaxProductCode.objectName,
        invalid: .invalidTaxProductCode
    )
    package static let appAccountToken = Self.uuid(invalid: .invalidAppAccountToken)
    /// A product ID of App Store Connect.
    package static let targetProductId = Self.text(
        longest: 255,
        rule: AppleErrorCode.invalidTargetProductID.objectName,
        invalid: .invalidTargetProductID
    )
}
