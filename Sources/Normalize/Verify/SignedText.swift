package import SignedData

/// A signed record before verification.
package enum SignedText: Sendable {
    /// As Apple sends it.
    case text(String)
    /// As the raw archive keeps it.
    case parts(JWSParts)

    /// The text that Apple sent; reassembled if only its parts are stored.
    var text: String {
        switch self {
        case .text(let text): text
        case .parts(let parts): parts.text
        }
    }
}
