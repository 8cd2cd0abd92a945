import AppStoreModel
import Crawl
import Streams
import Synchronization

/// Items and pages in memory, with the promises of the real store: one holder an item, cursor and page together.
final class MemoryStore: CrawlStore {
    struct Item: Sendable {
        var item: WorkItem
        var state = "waiting"
        var pages: [[String]] = []
        var ends: [ItemOutcome] = []
        var requests = 0
    }

    private struct State {
        var items: [Item]
        var leasesAtOnce = 0
        var leaseCalls = 0
        /// The key of an item that another process has leased, and the call of `lease` that finds it free.
        var held: (key: String, until: Int)?
        var lost: Set<String> = []
    }

    private let state: Mutex<State>
    /// Reasons of rejected records by item key, for every page of it.
    private let rejects: [String: [String]]
    /// Whether every one of them was rejected in an earlier run, too.
    private let knowsRejects: Bool

    init(
        _ keys: [String],
        stream: StreamName = .transactionHistory,
        deferrals: Int = 0,
        rejects: [String: [String]] = [:],
        knowsRejects: Bool = false
    ) {
        let items = keys.map { key in
            Item(
                item: WorkItem(
                    stream: stream,
                    key: key,
                    epoch: 0,
                    pageSequence: 0,
                    cursor: nil,
                    window: nil,
                    deferrals: deferrals
                )
            )
        }
        state = Mutex(State(items: items))
        self.rejects = rejects
        self.knowsRejects = knowsRejects
    }

    func item(_ key: String) -> Item? { state.withLock { $0.items.first { $0.item.key == key } } }
    var states: [String] { state.withLock { $0.items.map(\.state) } }

    /// From now on another process has the lease on the item.
    func lose(_ key: String) { state.withLock { _ = $0.lost.insert(key) } }

    /// Somebody else brings the item to its end.
    func giveUp(_ key: String) {
        state.withLock { state in
            guard let index = state.items.firstIndex(where: { $0.item.key == key }) else { return }
            state.items[index].state = "lost"
        }
    }

    /// The holder of the item gives it back just before `call`, the number of a call of `lease`.
    func release(_ key: String, onLease call: Int) { state.withLock { $0.held = (key, call) } }

    func lease(_ stream: StreamName, atMost count: Int) async throws -> LeaseAnswer {
        state.withLock { state in
            state.leaseCalls += 1
            if let held = state.held, state.leaseCalls >= held.until,
                let index = state.items.firstIndex(where: { $0.item.key == held.key })
            {
                state.items[index].state = "waiting"
                state.held = nil
            }
            var taken: [WorkItem] = []
            for index in state.items.indices
            where state.items[index].item.stream == stream && state.items[index].state == "waiting"
                && taken.count < count
            {
                state.items[index].state = "leased"
                taken.append(state.items[index].item)
            }
            if !taken.isEmpty { return .items(taken) }
            let isDrained = state.items.allSatisfy {
                $0.item.stream != stream || ["done", "failed", "lost"].contains($0.state)
            }
            return isDrained ? .drained : .later(.seconds(1))
        }
    }

    func holds(_ item: WorkItem) -> Bool { state.withLock { !$0.lost.contains(item.key) } }

    func verify(_ page: Page, of item: WorkItem) -> [String] { page.records.map(\.text) }

    func normalize(_ page: [String]) -> [String] { page }

    func commit(_ rows: [String], of page: Page, for item: WorkItem, requests: Int) async throws -> PageOutcome {
        let rejected = rejects[item.key] ?? []
        return try state.withLock { state in
            guard let index = state.items.firstIndex(where: { $0.item.key == item.key }) else { throw LeaseLost() }
            guard !state.lost.contains(item.key) else {
                state.items[index].state = "lost"
                throw LeaseLost()
            }
            var next = item
            next.cursor = page.cursor
            next.pageSequence += 1
            next.pageCount += 1
            state.items[index].item = next
            state.items[index].pages.append(rows)
            state.items[index].requests += requests
            if !page.hasMore { state.items[index].state = "done" }
            return PageOutcome(
                item: next,
                rowsNew: rows.count - rejected.count,
                rowsUpdated: 0,
                rowsUnchanged: 0,
                rejected: rejected,
                newlyRejected: knowsRejects ? [] : rejected
            )
        }
    }

    func record(_ outcome: ItemOutcome, of item: WorkItem, requests: Int) async throws {
        state.withLock { state in
            guard let index = state.items.firstIndex(where: { $0.item.key == item.key }) else { return }
            state.items[index].ends.append(outcome)
            state.items[index].requests += requests
            switch outcome {
            case .failed:
                state.items[index].state = "failed"
            case .deferred:
                state.items[index].state = "waiting"
                state.items[index].item.deferrals += 1
            case .restarted, .shortened:
                state.items[index].state = "waiting"
                state.items[index].item.cursor = nil
                state.items[index].item.restarts += 1
            case .moved(let environment):
                state.items[index].state = "waiting"
                state.items[index].item.cursor = nil
                state.items[index].item.otherEnvironment = environment
            }
        }
    }
}

extension PageRecord {
    fileprivate var text: String {
        switch self {
        case .transaction(let jws), .refund(let jws), .notification(let jws, _), .appTransaction(let jws),
            .unreadable(let jws):
            jws
        case .subscriptionStatus(let subscription): subscription.text
        case .order(_, let transactions): transactions.joined()
        case .customerGroup, .groupMember, .seatInfo, .unusableAnswer: ""
        }
    }
}
