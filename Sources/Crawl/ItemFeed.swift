import AppStoreModel
import Basics
import JobPlan
import Synchronization

/// Hands out items one at a time; only a few are leased ahead, so that a million items never are in memory.
///
/// Every stream with work gets an equal share of the workers, so a slow stream does not hold up a fast one.
final class ItemFeed<Store: CrawlStore>: Sendable {
    private let store: Store
    private let width: Int
    private let time: Timekeeper
    private let state: Mutex<[Lane]>

    /// The most items leased ahead for one stream.
    ///
    /// It is small because other processes cannot work on leased items.
    private static var batch: Int { 20 }
    /// How often the store is polled while every item is leased.
    private static var pollInterval: Duration { .milliseconds(100) }

    private struct Lane {
        let stream: StreamName
        var ready: [WorkItem] = []
        var underWay = 0
        /// Whether the store had items when it was last asked.
        var isBusy = true
        var isDrained = false
        var askAgainAt: Duration = .zero
    }

    init(store: Store, streams: [StreamName], width: Int, time: Timekeeper) {
        self.store = store
        self.width = width
        self.time = time
        state = Mutex(streams.map { Lane(stream: $0) })
    }

    /// Returns the next item, and waits while all are leased.
    ///
    /// Returns `nil` when every item has reached its end.
    func next() async throws -> WorkItem? {
        while true {
            try Task.checkCancellation()
            if let item = takeReady() { return item }
            for stream in streamsToAsk() { try await ask(stream) }
            if let item = takeReady() { return item }
            if state.withLock({ lanes in lanes.allSatisfy(\.isDrained) }) { return nil }
            try await time.sleep(Self.pollInterval)
        }
    }

    /// Frees the item's worker.
    func finished(_ item: WorkItem) {
        state.withLock { lanes in
            guard let lane = lanes.firstIndex(where: { $0.stream == item.stream }) else { return }
            lanes[lane].underWay -= 1
        }
    }

    /// Takes an item of the stream with the fewest workers, if that stream has less than its share of them.
    private func takeReady() -> WorkItem? {
        state.withLock { lanes in
            let busy = lanes.count { !$0.ready.isEmpty || $0.isBusy }
            let part = (width + max(busy, 1) - 1) / max(busy, 1)
            let free = lanes.indices.filter { !lanes[$0].ready.isEmpty && lanes[$0].underWay < part }
            guard let lane = free.min(by: { lanes[$0].underWay < lanes[$1].underWay }) else { return nil }
            lanes[lane].underWay += 1
            return lanes[lane].ready.removeFirst()
        }
    }

    private func streamsToAsk() -> [StreamName] {
        let now = time.monotonic()
        return state.withLock { lanes in
            lanes.filter { $0.ready.isEmpty && !$0.isDrained && $0.askAgainAt <= now }.map(\.stream)
        }
    }

    private func ask(_ stream: StreamName) async throws {
        let answer = try await store.lease(stream, atMost: min(width, Self.batch))
        let now = time.monotonic()
        state.withLock { lanes in
            guard let lane = lanes.firstIndex(where: { $0.stream == stream }) else { return }
            switch answer {
            case .items(let items):
                lanes[lane].ready = items
                lanes[lane].isBusy = true
            case .later(let wait):
                lanes[lane].isBusy = false
                // Another process can return an item at any time, so the wait is at most a second.
                lanes[lane].askAgainAt =
                    now + min(max(wait, .milliseconds(1)), lanes[lane].underWay > 0 ? .milliseconds(100) : .seconds(1))
            case .drained:
                lanes[lane].isBusy = false
                // An item in progress can still be put off, and is then available again.
                lanes[lane].isDrained = lanes[lane].underWay == 0
            }
        }
    }
}
