import Inbox
import Synchronization
import TestSupport
import Testing

@testable import Receiver

struct GroupCommitTests {
    private static func notification(_ key: String, content: UInt8 = 1) -> ReceivedNotification {
        ReceivedNotification(
            key: key,
            version: 2,
            type: nil,
            originalTransactionId: nil,
            body: key,
            bodySHA256: [content]
        )
    }

    /// A database whose commits end when the test says so.
    private final class Disk: Sendable {
        private struct State {
            var batches: [[String]] = []
            var waiting: [CheckedContinuation<Void, Never>] = []
        }

        private let state = Mutex(State())
        var batches: [[String]] { state.withLock(\.batches) }

        func commit(_ batch: [ReceivedNotification]) async throws -> [NotificationInbox.Receipt] {
            await withCheckedContinuation { done in
                state.withLock { state in
                    state.batches.append(batch.map(\.key))
                    state.waiting.append(done)
                }
            }
            return batch.map { $0.bodySHA256 == [1] ? .new : .known }
        }

        /// Waits until `count` commits have begun.
        func began(_ count: Int) async { while batches.count < count { await Task.yield() } }

        func finishNext() {
            let next = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
            next?.resume()
        }
    }

    @Test func `notifications that arrive during a commit share the next one`() async throws {
        let disk = Disk()
        let commits = GroupCommit(width: 1, patience: .seconds(5), time: ManualTime().timekeeper) {
            try await disk.commit($0)
        }
        async let first = commits.store(Self.notification("a"))
        await disk.began(1)
        try await withThrowingTaskGroup(of: NotificationInbox.Receipt.self) { group in
            for number in 0..<50 { group.addTask { try await commits.store(Self.notification("b\(number)")) } }
            while commits.waiting < 51 { await Task.yield() }
            disk.finishNext()
            await disk.began(2)
            disk.finishNext()
            for try await receipt in group { #expect(receipt == .new) }
        }
        #expect(try await first == .new)
        #expect(disk.batches.map(\.count) == [1, 50])
    }

    @Test func `two notifications with one key are not in one commit`() async throws {
        let disk = Disk()
        let commits = GroupCommit(width: 1, patience: .seconds(5), time: ManualTime().timekeeper) {
            try await disk.commit($0)
        }
        async let first = commits.store(Self.notification("a"))
        await disk.began(1)
        async let second = commits.store(Self.notification("b"))
        while commits.waiting < 2 { await Task.yield() }
        async let third = commits.store(Self.notification("b", content: 2))
        while commits.waiting < 3 { await Task.yield() }
        for count in 2...3 {
            disk.finishNext()
            await disk.began(count)
        }
        disk.finishNext()
        #expect(try await [first, second, third] == [.new, .new, .known])
        #expect(disk.batches == [["a"], ["b"], ["b"]])
    }

    @Test func `what waits longer than its patience fails, and its commit is not undone`() async throws {
        let disk = Disk()
        let time = ManualTime()
        let commits = GroupCommit(width: 1, patience: .seconds(5), time: time.timekeeper) {
            try await disk.commit($0)
        }
        let first = Task { try await commits.store(Self.notification("a")) }
        await disk.began(1)
        time.advance(by: .seconds(4))
        async let second = commits.store(Self.notification("b"))
        while commits.waiting < 2 { await Task.yield() }
        commits.failOverdue()
        time.advance(by: .seconds(1))
        commits.failOverdue()
        await #expect(throws: GroupCommit.TooLate.self) { _ = try await first.value }
        disk.finishNext()
        await disk.began(2)
        disk.finishNext()
        #expect(try await second == .new)
        #expect(disk.batches == [["a"], ["b"]])
    }

    @Test func `a failed commit fails its notifications and no later ones`() async throws {
        struct Away: Error {}
        let calls = Atomic(0)
        let commits = GroupCommit(width: 1, patience: .seconds(5), time: ManualTime().timekeeper) { batch in
            guard calls.add(1, ordering: .relaxed).oldValue > 0 else { throw Away() }
            return batch.map { _ in .new }
        }
        await #expect(throws: Away.self) { _ = try await commits.store(Self.notification("a")) }
        #expect(try await commits.store(Self.notification("a")) == .new)
    }
}
