import Postgres
import Synchronization
import TestSupport
import Testing

@testable import Inbox
@testable import Receiver

/// Which notifications a normaliser takes, and what it leaves alone.
@Suite(.temporaryDatabase)
struct InboxWorkerTests {
    /// PostgreSQL's refusal of a value.
    private func refusal() async throws -> PostgresError {
        do {
            try await TemporaryDatabase.pool(size: 1).withConnection { try $0.script("SELECT 1 / 0") }
        } catch let error as PostgresError {
            return error
        }
        throw CancellationError()
    }

    /// Notifications of which PostgreSQL does not take one.
    private final class Inbox: Sendable {
        let left: Mutex<[String]>
        let poison: String

        init(_ keys: [String], poison: String) {
            left = Mutex(keys)
            self.poison = poison
        }
    }

    @Test func `a notification whose records PostgreSQL refuses is skipped, and the others are normalised`()
        async throws
    {
        let error = try await refusal()
        let inbox = Inbox((0..<10).map { "n\($0)" }, poison: "n4")
        let reported = Mutex<[String]>([])
        let normalized = Atomic(0)
        let worker = InboxWorker(
            normalize: { most, skipped in
                let batch = inbox.left.withLock { $0.filter { !skipped.contains($0) }.prefix(most) }
                guard !batch.contains(inbox.poison) else { throw error }
                inbox.left.withLock { left in left.removeAll { batch.contains($0) } }
                return NormalizedBatch(notifications: batch.count)
            },
            pending: { most, skipped in
                inbox.left.withLock { Array($0.filter { !skipped.contains($0) }.prefix(most)) }
            },
            count: { normalized.add($0, ordering: .relaxed) },
            time: ManualTime(.automatic).timekeeper,
            report: { event in
                guard case .skipped(let key, _) = event else { return }
                reported.withLock { $0.append(key) }
            }
        )
        var step = InboxWorker.Step()
        repeat { await worker.perform(&step) } while step.hasMore
        #expect(inbox.left.withLock { $0 } == ["n4"])
        #expect(reported.withLock { $0 } == ["n4"])
        #expect(step.most == InboxWorker.batch && step.skipped == ["n4"])
        #expect(normalized.load(ordering: .relaxed) == 9)
    }

    @Test func `a failure for another reason is reported, and skips nothing`() async throws {
        struct Away: Error {}
        let reported = Atomic(0)
        let worker = InboxWorker(
            normalize: { _, _ in throw Away() },
            pending: { _, _ in [] },
            count: { _ in },
            time: ManualTime(.automatic).timekeeper,
            report: { if case .notNormalized = $0 { reported.add(1, ordering: .relaxed) } }
        )
        var step = InboxWorker.Step()
        await worker.perform(&step)
        #expect(step.failed && !step.hasMore && step.skipped.isEmpty)
        #expect(reported.load(ordering: .relaxed) == 1)
    }
}
