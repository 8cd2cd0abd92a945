import Basics
import Inbox
import Ledger

/// Where the accepted and the refused notifications of one app go.
struct AppInbox: Sendable {
    let app: ReceivedApp
    let commits: GroupCommit
    let quarantine: RefusedNotifications
    let ageOfOldestPending: @Sendable () async throws -> Duration?
    /// What is left to forward, by URL.
    let forwards: @Sendable () async throws -> [ForwardCounts]
    /// Called after each commit that had a new notification.
    let stored: @Sendable () -> Void
}

extension [AppInbox] {
    /// The decision about a body, and the app that it is about.
    ///
    /// What the body claims chooses the apps whose verifiers are asked. A notification of no app is refused by the first one, as a
    /// receiver of one app does.
    func verdict(
        on body: [UInt8]
    ) throws(NotificationBody.Unreadable) -> (inbox: AppInbox, verdict: NotificationVerifier.Verdict) {
        let read = try NotificationBody(body)
        let claimed = count > 1 ? read.claimedBundleId : nil
        let candidates = filter { $0.app.verifier.bundleId == claimed }
        var refused: (AppInbox, NotificationVerifier.Verdict)?
        for inbox in candidates.isEmpty ? self[...].prefix(1) : candidates[...] {
            let verdict = inbox.app.verifier.verdict(on: read)
            guard case .refused(let notification, _) = verdict else { return (inbox, verdict) }
            // The app in the other environment says no more than that it is not its notification.
            if refused == nil || notification.reason != "environment" { refused = (inbox, verdict) }
        }
        guard let refused else { preconditionFailure("a receiver has an app") }
        return refused
    }
}
