import AppStoreModel
import JobPlan
import Synchronization
import Workers

/// Hands out items one at a time, leasing a few ahead, so that a million items never sit in memory.
///
/// Every stream with work to do gets its part of the workers: a refund limit of five a second does not
/// keep the histories waiting, and the other way round.
final class ItemFeed<Store: CrawlStore>: Sendable {
    private let store: Store
    private let width: Int
    private let time: Timekeeper
    private let state: Mutex<[Lane]>

    /// Items leased ahead for one stream at most; few, because they are locked for other processes.
    private static var batch: Int { 20 }
    /// How often the store is asked again while every item is in somebody's hands.
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

    /// The next item, waiting for one if all are in somebody's hands; `nil` when every item has reached its end.
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

    /// Frees the item's place.
    func finished(_ item: WorkItem) {
        state.withLock { lanes in
            guard let lane = lanes.firstIndex(where: { $0.stream == item.stream }) else { return }
            lanes[lane].underWay -= 1
        }
    }

    /// An item of the stream that has the fewest workers and less than its part of them.
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
                // Somebody may put an item back at any time, so never longer than a second.
                lanes[lane].askAgainAt =
                    now + min(max(wait, .milliseconds(1)), lanes[lane].underWay > 0 ? .milliseconds(100) : .seconds(1))
            case .drained:
                lanes[lane].isBusy = false
                // An item under way may still be put off, which makes it waiting again.
                lanes[lane].isDrained = lanes[lane].underWay == 0
            }
        }
    }
}
