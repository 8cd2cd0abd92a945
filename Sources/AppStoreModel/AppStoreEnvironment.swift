/// Where an app's purchases live.
///
/// Apple keeps the two apart: other host, other limits, other reach.
///
/// `Xcode` and `LocalTesting` also occur in payloads, but never in what a server may load.
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

    /// How far back Get Notification History reaches.
    package var notificationReach: Duration {
        switch self {
        case .production: .seconds(180 * 86_400)
        case .sandbox: .seconds(30 * 86_400)
        }
    }

    /// The oldest notifications worth asking for at `now`.
    ///
    /// Ten minutes inside Apple's reach: a crawl takes time between freezing `now` and its last request, and a start one
    /// second out of reach is refused (4000012).
    package func oldestNotification(at now: UnixMilliseconds) -> UnixMilliseconds {
        now - notificationReach + .seconds(600)
    }
}
