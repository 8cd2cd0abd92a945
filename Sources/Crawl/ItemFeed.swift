import AppStoreModel
import Basics
import Streams
import Synchronization

/// Hands out items to the workers one at a time.
///
/// Only a few items are leased ahead, so that a million items are never in memory at once. Every stream with work gets
/// an equal share of the workers, so a slow stream does not delay a fast one.
final class ItemFeed<Store: CrawlStore>: Sendable {
    private let store: Store
    private let concurrency: Int
    private let time: Timekeeper
    private let report: @Sendable (CrawlEvent) -> Void
    private let queues: Mutex<[StreamQueue]>
    private let idleness = Mutex(Idleness())

    /// The most items leased ahead for one stream.
    ///
    /// It is small because other processes cannot work on leased items.
    private static var leaseBatch: Int { 20 }
    /// How long ``next()`` waits before it looks for an item again.
    private static var pollInterval: Duration { .milliseconds(100) }
    /// How long this process has no item before it reports that.
    ///
    /// An item of a killed process is free again after 60 s.
    private static var idleBeforeReport: Duration { .seconds(5) }

    private struct StreamQueue {
        let stream: StreamName
        /// Leased items that no worker has yet.
        var ready: [WorkItem] = []
        /// The number of items that workers have.
        var inProgress = 0
        /// Whether the last lease returned items.
        var hasWork = true
        /// Whether every item of the stream has reached its end.
        var isDrained = false
        /// The store is not asked for items before this moment, on the monotonic clock.
        var nextLease: Duration = .zero
        /// When the next item is free, on the monotonic clock; `nil` if the last lease returned items or none is left.
        var nextFree: Duration?
    }

    private struct Idleness {
        /// Since when no worker has an item, on the monotonic clock; `nil` if one has.
        var since: Duration?
        var isReported = false
    }

    init(
        store: Store,
        streams: [StreamName],
        concurrency: Int,
        time: Timekeeper,
        report: @escaping @Sendable (CrawlEvent) -> Void
    ) {
        self.store = store
        self.concurrency = concurrency
        self.time = time
        self.report = report
        queues = Mutex(streams.map { StreamQueue(stream: $0) })
    }

    /// Returns the next item for a worker.
    ///
    /// Waits while no item can be taken: workers here or in other processes have the rest, or it is postponed.
    /// Returns `nil` when every item has reached its end.
    func next() async throws -> WorkItem? {
        while true {
            try Task.checkCancellation()
            if let item = takeReady() { return item }
            for stream in streamsToLease() { try await lease(stream) }
            if let item = takeReady() { return item }
            if queues.withLock({ queues in queues.allSatisfy(\.isDrained) }) { return nil }
            reportIdleness()
            try await time.sleep(Self.pollInterval)
        }
    }

    /// Tells the feed that the worker is done with the item.
    func finished(_ item: WorkItem) {
        queues.withLock { queues in
            guard let index = queues.firstIndex(where: { $0.stream == item.stream }) else { return }
            queues[index].inProgress -= 1
        }
    }

    /// Takes a ready item of a stream that has less than its share of the workers.
    ///
    /// Among several such streams, the one with the fewest workers comes first.
    private func takeReady() -> WorkItem? {
        queues.withLock { queues in
            let active = max(queues.count { !$0.ready.isEmpty || $0.hasWork }, 1)
            let share = (concurrency + active - 1) / active
            let eligible = queues.indices.filter { !queues[$0].ready.isEmpty && queues[$0].inProgress < share }
            guard let index = eligible.min(by: { queues[$0].inProgress < queues[$1].inProgress }) else { return nil }
            queues[index].inProgress += 1
            return queues[index].ready.removeFirst()
        }
    }

    /// Reports once that this process has had no item for a while.
    private func reportIdleness() {
        let hasItem = queues.withLock { queues in queues.contains { $0.inProgress > 0 || !$0.ready.isEmpty } }
        let now = time.monotonic()
        let isDue = idleness.withLock { idleness in
            guard !hasItem else {
                idleness = Idleness()
                return false
            }
            let since = idleness.since ?? now
            idleness.since = since
            guard !idleness.isReported, now - since >= Self.idleBeforeReport else { return false }
            idleness.isReported = true
            return true
        }
        guard isDue else { return }
        let nextFree = queues.withLock { queues in queues.compactMap(\.nextFree).min() }
        report(.idle(until: nextFree.map { UnixMilliseconds(rawValue: time.wallClock()) + ($0 - now) }))
    }

    private func streamsToLease() -> [StreamName] {
        let now = time.monotonic()
        return queues.withLock { queues in
            queues.filter { $0.ready.isEmpty && !$0.isDrained && $0.nextLease <= now }.map(\.stream)
        }
    }

    private func lease(_ stream: StreamName) async throws {
        let answer = try await store.lease(stream, atMost: min(concurrency, Self.leaseBatch))
        let now = time.monotonic()
        queues.withLock { queues in
            guard let index = queues.firstIndex(where: { $0.stream == stream }) else { return }
            queues[index].nextFree = nil
            switch answer {
            case .items(let items):
                queues[index].ready = items
                queues[index].hasWork = true
            case .later(let wait):
                queues[index].hasWork = false
                queues[index].nextFree = now + wait
                // Any process can put an item back before `wait` ends. This process may do so soon if it has items in
                // progress.
                let longestWait: Duration = queues[index].inProgress > 0 ? .milliseconds(100) : .seconds(1)
                queues[index].nextLease = now + min(max(wait, .milliseconds(1)), longestWait)
            case .drained:
                queues[index].hasWork = false
                // An item in progress can still be postponed, and is then available again.
                queues[index].isDrained = queues[index].inProgress == 0
            }
        }
    }
}
