import AppStoreModel
import SignedData

/// One column of a CSV file of offers, with the rule for its values.
struct OfferColumn: Sendable {
    let name: String
    /// Whether each row needs a value.
    let isRequired: Bool
    /// Describes the valid values, as the end of a sentence.
    let rule: String
    let accepts: @Sendable (String) -> Bool

    /// Apple documents no length for identifiers of products and offers.
    private static func identifier(_ name: String) -> OfferColumn {
        OfferColumn(name: name, isRequired: true, rule: "1 to 255 characters without white space") { text in
            // Most identifiers are ASCII, and properties of characters are slow to find.
            if text.utf8.count <= 255, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) { return true }
            return text.unicodeScalars.count <= 255
                && text.unicodeScalars.allSatisfy { isSignable($0) && !$0.properties.isWhitespace }
        }
    }

    private static func transactionId(isRequired: Bool) -> OfferColumn {
        OfferColumn(name: "transaction_id", isRequired: isRequired, rule: "a transaction ID of 1 to 20 digits") {
            text in
            TransactionID(text) != nil
        }
    }

    private static func isSignable(_ scalar: Unicode.Scalar) -> Bool {
        scalar != PromotionalOfferSigner.separator && scalar.value >= 0x20 && scalar.value != 0x7F
    }

    static let productId = identifier("product_id")
    static let offerIdentifier = identifier("offer_identifier")
    static let allowIntroductoryOffer = OfferColumn(
        name: "allow_introductory_offer",
        isRequired: true,
        rule: "true or false"
    ) { $0 == "true" || $0 == "false" }
    static let applicationUsername = OfferColumn(
        name: "application_username",
        isRequired: false,
        rule: "at most 255 characters without control characters and U+2063"
    ) { $0.unicodeScalars.count <= 255 && $0.unicodeScalars.allSatisfy(isSignable) }

    /// The columns that a kind reads, in the order of ``OfferRow/values``; none for a kind that is not CSV.
    static func columns(of kind: SignatureKind) -> [OfferColumn] {
        switch kind {
        case .advancedCommerce: []
        case .promotionalOffer: [productId, offerIdentifier, transactionId(isRequired: false)]
        case .introductoryOfferEligibility: [productId, allowIntroductoryOffer, transactionId(isRequired: true)]
        case .promotionalOfferSignature: [productId, offerIdentifier, applicationUsername]
        }
    }

    /// The columns that the output has in addition to the input's.
    static func added(by kind: SignatureKind) -> [String] {
        kind == .promotionalOfferSignature ? ["signature", "nonce", "timestamp", "key_identifier"] : ["signature"]
    }
}
