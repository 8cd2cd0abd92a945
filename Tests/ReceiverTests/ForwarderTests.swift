import Basics
import Synchronization
import TestSupport
import Testing

@testable import Inbox
@testable import Receiver

/// What a forwarder does with the notifications that it takes.
struct ForwarderTests {
    private struct Away: Error {}

    /// What a forwarder did, and how often the database does not answer.
    private final class Record: Sendable {
        let calls = Mutex<[String]>([])
        let failures: Mutex<Int>

        init(failures: Int) { self.failures = Mutex(failures) }

        func note(_ call: String) throws {
            let fails = failures.withLock { left in
                left -= 1
                return left >= 0
            }
            guard !fails else { throw Away() }
            calls.withLock { $0.append(call) }
        }
    }

    private func forwarder(_ record: Record, _ outcome: ForwardOutcome, _ time: ManualTime) -> Forwarder {
        Forwarder(
            app: "a",
            name: "https://a.example/",
            pace: Forwarder.SharedPace(),
            claim: { most in
                try record.note("claim \(most)")
                return [Self.claim(3)]
            },
            post: { _ in outcome },
            end: { try record.note("end \($0.id)") },
            postpone: { try record.note("postpone \($0.id) \($1.components.seconds) \($2)") },
            count: { _ in },
            time: time.timekeeper,
            report: { _ in }
        )
    }

    private static func claim(_ attempt: Int32) -> ForwardQueue.Claim {
        ForwardQueue.Claim(id: 7, notificationUUID: "n", attempt: attempt, body: [1])
    }

    @Test func `a delivered notification is ended, and another one postponed by its attempts`() async {
        let record = Record(failures: 0)
        await forwarder(record, .delivered, ManualTime(.automatic)).deliver(Self.claim(1))
        await forwarder(record, .refused("HTTP status 400"), ManualTime(.automatic)).deliver(Self.claim(4))
        #expect(record.calls.withLock { $0 } == ["end 7", "postpone 7 8 HTTP status 400"])
    }

    @Test func `an outcome is recorded when the database answers again, while the lease lasts`() async {
        let time = ManualTime(.automatic)
        let record = Record(failures: 5)
        await forwarder(record, .delivered, time).deliver(Self.claim(1))
        #expect(record.calls.withLock { $0 } == ["end 7"])
        let lost = Record(failures: .max)
        await forwarder(lost, .delivered, time).deliver(Self.claim(1))
        #expect(lost.calls.withLock { $0 }.isEmpty && time.now < .seconds(5) + ForwardQueue.lease)
    }

    @Test func `places are given back when the database does not answer`() async {
        let record = Record(failures: 1)
        let forwarder = forwarder(record, .delivered, ManualTime(.automatic))
        #expect(await forwarder.nextClaims().isEmpty)
        #expect(await forwarder.nextClaims() == [Self.claim(3)])
        #expect(record.calls.withLock { $0 } == ["claim 8"])
        _ = await forwarder.nextClaims()
        #expect(record.calls.withLock { $0 } == ["claim 8", "claim 7"])
    }
}
