/// What `storeledger sign` signs, under the names of the command line.
package enum SignatureKind: String, CaseIterable, Sendable {
    /// Advanced Commerce requests, one JSON object a line.
    case advancedCommerce = "advanced-commerce"
    /// Promotional offers, as a JWS.
    case promotionalOffer = "promotional-offer"
    /// Whether customers may get an introductory offer, as a JWS.
    case introductoryOfferEligibility = "introductory-offer-eligibility"
    /// Promotional offers, in the older form that is no JWS.
    case promotionalOfferSignature = "promotional-offer-signature"
}
