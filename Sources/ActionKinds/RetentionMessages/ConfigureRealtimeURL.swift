package import AppStoreModel
import StrictJSON
import Streams

/// Configure Realtime URL: the URL of the app's server that Apple asks for a message while a customer waits.
///
/// The newest URL counts, so a repeat changes nothing. Source: Configure Realtime URL, Retention Messaging API 1.5, read 2026-11.
package enum ConfigureRealtimeURL: AppStoreAction {
    package static let name = StreamName("configureRealtimeURL")
    package static let requestsPerSecond = 1.0
    package static let endpoints = [ActionEndpoint(name: name, requestsPerSecond: 1), RealtimeURL.endpoint]
    package static let columns = [
        ActionColumn("realtime_url", .httpsURL(RetentionLimits.realtimeURL), needsValue: true)
    ]
    package static let subject: String? = nil
    package static let subjectKind: ActionSubject? = nil
    package static let readBack: ActionReadBack? = .realtimeURL

    package static func request(_ row: ActionParameters, id: String) -> AppStoreRequest {
        .put(
            RealtimeURL.path,
            body: JSONWriter.bytes(.object(.of([("realtimeURL", row["realtime_url"]?.json)])))
        )
    }
}

/// Delete Realtime URL: Apple shows the default messages only.
///
/// Source: Delete Realtime URL, Retention Messaging API 1.5, read 2026-11.
package enum DeleteRealtimeURL: AppStoreAction {
    package static let name = StreamName("deleteRealtimeURL")
    package static let requestsPerSecond = 1.0
    package static let endpoints = [ActionEndpoint(name: name, requestsPerSecond: 1), RealtimeURL.endpoint]
    package static let columns: [ActionColumn] = []
    package static let subject: String? = nil
    package static let subjectKind: ActionSubject? = nil
    package static let readBack: ActionReadBack? = .realtimeURL

    package static func request(_ row: ActionParameters, id: String) -> AppStoreRequest {
        .delete(RealtimeURL.path)
    }

    package static func effect(of code: AppleErrorCode, on row: ActionParameters) -> ActionErrorEffect {
        code == .realtimeURLNotFound ? .provesEarlierRequest : errorEffects[code] ?? .rejectsRow
    }
}
