/// The text of a JWS header, with its verified chain.
///
/// Thousands of records have the same header and share one instance.
final class VerifiedHeader: Sendable {
    let text: [UInt8]
    let chain: VerifiedChain
    /// Checks the signatures of records with this header.
    let signatures: SignatureCheck

    init(text: [UInt8], chain: VerifiedChain) {
        self.text = text
        self.chain = chain
        signatures = SignatureCheck(chain.leafKey, prefix: text + [UInt8(ascii: ".")])
    }
}
