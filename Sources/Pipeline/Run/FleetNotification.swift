import Basics
package import JobFiles

/// The document that a webhook receives after a process that ran several apps; documented in `docs/reference/json.md`.
package struct FleetNotification: WebhookDocument {
    /// The most apps that a chat shows.
    private static let shownApps = 50

    let host: String
    let outcome: String
    package let exitCode: Int32
    package let message: String
    let startedAt: String
    let endedAt: String
    let apps: [RunNotification]

    /// - Parameter apps: At least one.
    package init(_ apps: [RunNotification]) {
        let status = ExitStatus.worst(of: apps.compactMap { ExitStatus(rawValue: $0.exitCode) })
        host = apps[0].host
        outcome = (Self.ending(of: apps) ?? .failure).rawValue
        exitCode = status.rawValue
        message = status.meaning
        // The moments have one form, so their texts have their order.
        startedAt = apps.map(\.startedAt).min() ?? ""
        endedAt = apps.map(\.endedAt).max() ?? ""
        self.apps = apps
    }

    /// A failure if one app has failed, a success if all are complete; `nil` for none of both, because the next start continues.
    package static func ending(of apps: [RunNotification]) -> Webhook.Ending? {
        let endings = apps.map { ExitStatus(rawValue: $0.exitCode)?.ending }
        if endings.contains(.failure) { return .failure }
        return !endings.isEmpty && endings.allSatisfy { $0 == .success } ? .success : nil
    }

    package var title: String {
        "StoreLedger: \(apps.count) apps " + (exitCode == 0 ? "are complete" : "ended with exit code \(exitCode)")
    }

    package var facts: [(name: String, value: String)] {
        let failed = apps.filter { $0.exitCode != 0 }
        var facts = [(name: "host", value: host), (name: "time", value: "\(startedAt) to \(endedAt)")]
        for app in failed.prefix(Self.shownApps) {
            facts.append((name: "\(app.app), \(app.environment)", value: "\(app.exitCode), \(app.message)"))
        }
        let others = failed.count - Self.shownApps
        if others > 0 { facts.append((name: "others", value: "\(others) apps")) }
        return facts
    }
}
