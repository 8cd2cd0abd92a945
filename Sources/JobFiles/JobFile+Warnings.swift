package import AppStoreModel
import Streams

extension JobFile {
    package var sandboxOnly: [StreamName] { streams.all.filter { !type(of: $0).isInProduction }.map(\.name) }

    /// Warnings that depend on the time, one sentence each: notifications that a run beginning at `now` cannot load.
    package func warnings(at now: UnixMilliseconds) -> [String] {
        streams.all.compactMap { stream in
            guard stream.items == .windows,
                stream.dates?.span(now: now, lastRun: nil, in: app.environment).unreachable != nil
            else { return nil }
            let days = app.environment.notificationReach.components.seconds / 86_400
            return
                "streams.\(stream.name.rawValue).startDate is out of reach: Apple keeps notifications for \(days) days, so a run "
                + "records a gap and ends with 2; write lastRun. Earlier purchases come from transactionHistory"
        }
    }
}
