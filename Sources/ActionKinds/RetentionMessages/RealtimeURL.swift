package import AppStoreModel
import StrictJSON
import Streams

/// The URL of the app's server that Apple asks for a message while a customer waits.
///
/// Source: Configure Realtime URL, Get Realtime URL, Delete Realtime URL, Retention Messaging API 1.5, read 2026-11.
package enum RealtimeURL {
    package static let path = "/inApps/v1/messaging/realtime/url"

    /// Get Realtime URL, which a plan asks.
    package static let endpoint = ActionEndpoint(name: StreamName("realtimeURL"), requestsPerSecond: 1)
    package static let request = AppStoreRequest.get(path)

    /// Reads the body of a 200 answer; `nil` for another body.
    package static func url(_ body: [UInt8]) -> String? {
        (try? StrictJSON.parseObject(body))?["realtimeURL"]?.string
    }
}

extension AppStoreAction {
    /// Whether a plan says which ``RealtimeURL`` Apple has.
    package static var changesRealtimeURL: Bool { endpoints.contains { $0.name == RealtimeURL.endpoint.name } }
}
