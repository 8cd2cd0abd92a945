/// Where a job reports how its runs end: the section `notify`.
package struct Webhook: Equatable, Sendable {
    /// The endings that can be reported.
    package enum Ending: String, CaseIterable, Sendable {
        /// Every exit code but 0 and 75.
        case failure
        /// Exit code 0.
        case success
    }

    /// Whose message the body of the POST is.
    package enum Format: String, CaseIterable, Sendable {
        case slack
        case teams
        /// StoreLedger's own document.
        case json
    }

    package let url: WebhookURL
    package let format: Format
    /// At least one.
    package let endings: [Ending]

    /// The endings that a job without `on` reports.
    package static let defaultEndings = [Ending.failure]
}

/// The URL of a webhook.
///
/// It often contains a token, so its description is `<redacted>`.
package struct WebhookURL: Equatable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    private let text: String
    /// Whether the host is a loopback address, which needs no TLS.
    package let isLoopback: Bool
    /// The URL without its query, with scheme and host in lower case; it may be shown if only the query is secret.
    package let withoutQuery: String

    /// `nil` unless it is an `https` URL, or an `http` URL of a loopback address, with a host and without a user.
    package init?(_ text: String) {
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let end = text.firstRange(of: "://") else {
            return nil
        }
        let scheme = text[..<end.lowerBound].lowercased()
        let authority = text[end.upperBound...].prefix { !"/?#".contains($0) }.lowercased()
        guard !authority.isEmpty, !authority.hasPrefix(":"), !authority.contains("@") else { return nil }
        isLoopback = ServerAddress.isLoopback(Substring(authority))
        guard scheme == "https" || scheme == "http" && isLoopback else { return nil }
        self.text = text
        let path = text[end.upperBound...].dropFirst(authority.utf8.count).prefix { !"?#".contains($0) }
        withoutQuery = "\(scheme)://\(authority)\(path)"
    }

    /// The URL.
    ///
    /// Pass it only to libcurl.
    package func reveal() -> String { text }

    package var description: String { "<redacted>" }

    package var debugDescription: String { description }

    package var customMirror: Mirror { Mirror(self, children: []) }
}
