package import AppStoreModel

/// A further server to which a receiver posts the notifications that it has stored: an entry of `receiver.forward`.
package struct Forward: Equatable, Sendable {
    package let url: WebhookURL
    /// Only notifications of this environment; `nil` for both.
    package let environment: AppStoreEnvironment?

    /// The most URLs of one job; each stored notification is kept once for each until it is delivered.
    package static let most = 8

    /// What ``accepts(_:)`` accepts, as the rest of a sentence after "it must be".
    package static let urlRule =
        "an https URL without user, password, quotation marks and backslashes; http only for a loopback address"

    package static func accepts(_ text: String) -> Bool {
        WebhookURL(text) != nil && !text.utf8.contains { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
    }

    /// The name of the URL in the ledger, in metrics and messages.
    package var name: String { url.withoutQuery }

    package init(url: WebhookURL, environment: AppStoreEnvironment?) {
        self.url = url
        self.environment = environment
    }

    /// Whether the URL is that of the receiver itself, as far as the job file says it.
    func isOwnURL(of receiver: ReceiverSettings) -> Bool {
        name == "http://\(receiver.listen)\(receiver.path)"
    }
}
