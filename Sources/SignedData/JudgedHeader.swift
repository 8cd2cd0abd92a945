/// A JWS header's text and the verdict on its chain.
///
/// Thousands of records share one; so they share its bytes too.
final class JudgedHeader: Sendable {
    let text: [UInt8]
    let verdict: ChainVerdict
    /// Of what follows the header and its dot.
    let signatures: SignatureCheck

    init(text: [UInt8], verdict: ChainVerdict) {
        self.text = text
        self.verdict = verdict
        signatures = SignatureCheck(verdict.leafKey, opening: text + [UInt8(ascii: ".")])
    }
}
