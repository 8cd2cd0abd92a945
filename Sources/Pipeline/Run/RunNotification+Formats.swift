import FoundationEssentials
import JobFiles

/// A document for a webhook, and what a chat shows of it.
package protocol WebhookDocument: Encodable, Sendable {
    var title: String { get }
    var message: String { get }
    /// What a person needs to know first, by name.
    var facts: [(name: String, value: String)] { get }
    var exitCode: Int32 { get }
}

extension WebhookDocument {
    /// The body of the POST.
    func body(in format: Webhook.Format) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return switch format {
        case .json: Array(try encoder.encode(self))
        case .slack: Array(try encoder.encode(SlackMessage(self)))
        case .teams: Array(try encoder.encode(TeamsMessage(self)))
        }
    }

}

extension RunNotification {
    package var title: String {
        "StoreLedger: \(job) " + (exitCode == 0 ? "is complete" : "ended with exit code \(exitCode)")
    }

    package var facts: [(name: String, value: String)] {
        var facts = [("app", "\(app), \(environment)"), ("host", host), ("time", "\(startedAt) to \(endedAt)")]
        if let run { facts.append(("run", "\(run)")) }
        if let counts {
            facts += [
                ("items", "\(counts.items), \(counts.itemsFailed) failed"),
                ("rows", "\(counts.rowsNew) new, \(counts.rowsUpdated) updated"),
                ("rejected records", "\(counts.recordsRejected)"), ("gaps", "\(counts.gaps)"),
            ]
        }
        if viewsAreOld { facts.append(("views", "old")) }
        return facts
    }
}

/// A message for an incoming webhook of Slack, and of chats that take Slack's.
///
/// Slack reads `&`, `<` and `>` as markup, and makes links of bundle IDs that are not code. Source: Slack's pages on incoming webhooks
/// and on formatting text.
private struct SlackMessage: Encodable {
    let text: String

    init(_ notification: some WebhookDocument) {
        let lines = ["*\(Self.escaped(notification.title))*", Self.escaped(notification.message)]
        let facts = notification.facts.map { "\($0.name): `\(Self.escaped($0.value.replacing("`", with: "'")))`" }
        text = (lines + facts).joined(separator: "\n")
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}

/// An Adaptive Card, which the workflows and the older incoming webhooks of Microsoft Teams take.
///
/// Source: Microsoft's pages on webhooks and connectors, and https://adaptivecards.io/explorer/.
private struct TeamsMessage: Encodable {
    struct Attachment: Encodable {
        let contentType = "application/vnd.microsoft.card.adaptive"
        let content: Card
    }

    struct Card: Encodable {
        enum CodingKeys: String, CodingKey {
            case schema = "$schema"
            case type, version, body
        }

        let schema = "http://adaptivecards.io/schemas/adaptive-card.json"
        let type = "AdaptiveCard"
        let version = "1.2"
        let body: [Element]
    }

    /// A `TextBlock` or a `FactSet`.
    struct Element: Encodable {
        struct Fact: Encodable {
            let title: String
            let value: String
        }

        let type: String
        var text: String?
        var weight: String?
        var color: String?
        var wrap: Bool?
        var facts: [Fact]?
    }

    let type = "message"
    let attachments: [Attachment]

    init(_ notification: some WebhookDocument) {
        let color = notification.exitCode == 0 ? "Good" : "Attention"
        let body = [
            Element(type: "TextBlock", text: notification.title, weight: "Bolder", color: color, wrap: true),
            Element(type: "TextBlock", text: notification.message, wrap: true),
            Element(type: "FactSet", facts: notification.facts.map { Element.Fact(title: $0.name, value: $0.value) }),
        ]
        attachments = [Attachment(content: Card(body: body))]
    }
}
