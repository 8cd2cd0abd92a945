import Basics
import Inbox
import Synchronization

/// Posts the notifications of one app to one URL, in order for each customer.
struct Forwarder: Sendable {
    /// How long it waits after a failure of the database.
    static let failurePause = Duration.seconds(1)

    /// The pace of a URL, which the apps with the same URL share.
    final class SharedPace: Sendable {
        let value: Mutex<ForwardPace>

        /// - Parameter apps: The number of apps with the URL.
        init(apps: Int = 1) { value = Mutex(ForwardPace(apps: apps)) }

        /// The most requests in flight.
        var places: Int { value.withLock(\.places) }
    }

    /// Names the app among those with the same URL.
    let app: String

    /// The URL without its query.
    let name: String
    let pace: SharedPace
    /// Takes notifications that are due, at most one of each customer.
    let claim: @Sendable (_ most: Int) async throws -> [ForwardQueue.Claim]
    let post: @Sendable (_ body: [UInt8]) async -> ForwardOutcome
    /// Records that a notification was delivered.
    let end: @Sendable (ForwardQueue.Claim) async throws -> Void
    /// Records that a notification was not delivered, and why.
    let postpone: @Sendable (ForwardQueue.Claim, Duration, String) async throws -> Void
    let count: @Sendable (ForwardOutcome) -> Void
    let time: Timekeeper
    let report: @Sendable (ReceiverEvent) -> Void

    /// Forwards until `wakes` ends, and returns when the requests in flight have ended.
    ///
    /// - Parameters:
    ///   - wakes: A value whenever a notification may be due; also regularly, because of retries and other receivers.
    ///   - wake: Adds a value to `wakes`.
    func run(_ wakes: AsyncStream<Void>, wake: @escaping @Sendable () -> Void) async {
        await withDiscardingTaskGroup { group in
            for await _ in wakes {
                for claim in await nextClaims() {
                    group.addTask {
                        await deliver(claim)
                        wake()
                    }
                }
            }
        }
    }

    /// The notifications to post now, each with a place of the pace.
    func nextClaims() async -> [ForwardQueue.Claim] {
        let places = pace.value.withLock { $0.reserve(for: app, at: time.monotonic()) }
        guard places > 0 else { return [] }
        do {
            let claims = try await claim(places)
            pace.value.withLock { $0.release(places - claims.count, of: app) }
            return claims
        } catch {
            pace.value.withLock { $0.release(places, of: app) }
            report(.forwardingWaits(error))
            // The sleep throws only when the task is cancelled, and then the stream ends.
            try? await time.sleep(Self.failurePause)
            return []
        }
    }

    /// Posts a notification, records the outcome, and gives the place back.
    func deliver(_ claim: ForwardQueue.Claim) async {
        let leaseEnd = time.monotonic() + ForwardQueue.lease
        let outcome = await post(claim.body)
        count(outcome)
        if let reason = outcome.failure { report(.notForwarded(url: name, reason: reason)) }
        await record(outcome, of: claim, until: leaseEnd)
        pace.value.withLock { $0.end(outcome, of: app, at: time.monotonic()) }
    }

    /// Records an outcome, again while the database does not answer: until the lease ends, no other receiver posts the notification.
    private func record(_ outcome: ForwardOutcome, of claim: ForwardQueue.Claim, until leaseEnd: Duration) async {
        while true {
            do {
                guard let reason = outcome.failure else { return try await end(claim) }
                return try await postpone(claim, outcome.delay(after: claim.attempt), reason)
            } catch {
                report(.forwardingWaits(error))
                guard time.monotonic() + Self.failurePause < leaseEnd,
                    (try? await time.sleep(Self.failurePause)) != nil
                else { return }
            }
        }
    }
}
