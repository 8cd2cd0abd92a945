package import SignedData

/// A signed record before anybody believes it.
package enum SignedText: Sendable {
    /// As Apple sends it.
    case text(String)
    /// As the raw archive keeps it.
    case parts(JWSParts)

    /// The text that Apple sent, made anew where only the parts are there.
    var text: String {
        switch self {
        case .text(let text): text
        case .parts(let parts): parts.text
        }
    }
}
