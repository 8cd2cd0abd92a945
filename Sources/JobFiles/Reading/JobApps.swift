import AppStoreModel
import JobSyntax

/// The apps of a job file: `app`, or each of `apps`.
///
/// A file with `apps` is read once for each app, as if it had `app`.
struct JobApps {
    private static let appsRule =
        "it must be a list of apps, such as [{bundleId: com.example.game, appAppleId: 1234567890}]"

    let problems: Problems

    /// The document for each app.
    ///
    /// - Returns: Empty after a reported problem.
    func roots(of root: JobNode) -> [JobNode] {
        guard let apps = root["apps"] else { return [root] }
        guard root["app"] == nil else {
            problems.report(apps.place, "and app are both given", "remove one of them")
            return []
        }
        guard let items = apps.items, !items.isEmpty else {
            problems.report(apps.place, apps.items == nil ? apps.found() : "is empty", Self.appsRule)
            return []
        }
        guard let environment = root.entry("environment") else {
            problems.report(
                root.place.missing("environment"),
                "is missing",
                "it must be Production or Sandbox, next to apps and for all of them"
            )
            return []
        }
        refuseRepetition(in: items)
        return items.map { item in
            if let own = item.entry("environment") {
                problems.report(own.place, "is not a key", "write environment next to apps, for all of them")
            }
            let app = JobNode.Entry(key: "app", place: item.place, value: item.replacing([], with: [environment]))
            return root.replacing(["apps", "environment"], with: [app])
        }
    }

    /// Reports an ID that two apps have.
    private func refuseRepetition(in items: [JobNode]) {
        for key in ["bundleId", "appAppleId"] {
            var seen: [String: JobNode] = [:]
            for node in items.compactMap({ $0[key] }) {
                // Apple gives no two apps bundle IDs that differ only in the case of letters.
                guard let text = node.scalar?.text.lowercased() else { continue }
                if let first = seen[text] {
                    problems.report(node.place, "is also \(first.place.keyPath)", "list each app once")
                }
                seen[text] = seen[text] ?? node
            }
        }
    }
}
