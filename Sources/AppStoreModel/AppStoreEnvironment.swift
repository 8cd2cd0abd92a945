/// The App Store environment of a purchase.
///
/// The two environments have different hosts, limits and retention times. `Xcode` and `LocalTesting` also occur in
/// payloads, but not in records of the server API.
package enum AppStoreEnvironment: String, CaseIterable, Sendable {
    case production = "Production"
    case sandbox = "Sandbox"

    /// Apple's host.
    ///
    /// Source: App Store Server API, base URLs, read 2026-11.
    package var baseURL: String {
        switch self {
        case .production: "https://api.storekit.apple.com"
        case .sandbox: "https://api.storekit-sandbox.apple.com"
        }
    }

    /// Apple's host before 2026-05, which still answers.
    ///
    /// The documentation of the Advanced Commerce API names only this one, read 2026-11.
    package var earlierBaseURL: String {
        switch self {
        case .production: "https://api.storekit.itunes.apple.com"
        case .sandbox: "https://api.storekit-sandbox.itunes.apple.com"
        }
    }

    /// How far back Get Notification History reaches.
    package var notificationReach: Duration {
        switch self {
        case .production: .seconds(180 * 86_400)
        case .sandbox: .seconds(30 * 86_400)
        }
    }

    /// The oldest start date to request at `now`.
    ///
    /// It is ten minutes later than Apple's limit. A crawl takes time after it fixes `now`, and Apple refuses a start
    /// date that is one second too old (4000012).
    package func oldestNotification(at now: UnixMilliseconds) -> UnixMilliseconds {
        now - notificationReach + .seconds(600)
    }
}
