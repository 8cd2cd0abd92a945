import AppStoreModel
import Basics
import Crawl
import Pipeline
import Streams

/// The events of a crawl with their moments, made by fake time: workers that share streams, answers that take their time,
/// and an even pace of permits.
struct RecordedCrawl {
    struct Lane {
        let stream: StreamName
        /// The pages of each item.
        let pages: [Int]
        /// The time from a permit to the committed page, in seconds.
        let latency: Double
        /// Permits a second.
        let limit: Double
        var planning = RunProgress.Planning.planned
        /// Every n-th item has a revocation; 0 for none.
        var revocationEvery = 0
        /// From when, and for how long, no permit is given.
        var closing: (at: Double, length: Double)?
    }

    private(set) var events: [(at: Duration, event: RunEvent)] = []
    /// When the last item has ended.
    private(set) var end = 0.0
    private let phases: [[Lane]]
    private let concurrency: Int

    static let wallClock = UnixMilliseconds(rawValue: 1_795_000_000_000)

    init(_ phases: [[Lane]], concurrency: Int = 8) {
        self.phases = phases
        self.concurrency = concurrency
        record(.counted(progress(planned: 1)), at: 0)
        for index in phases.indices {
            if index > 0 { record(.counted(progress(planned: index + 1)), at: end) }
            play(phases[index])
        }
    }

    /// What the ledger counts when the first `planned` phases are planned.
    private func progress(planned: Int) -> RunProgress {
        let streams = phases.enumerated().map { index, phase in
            phase.map { lane in
                let isPlanned = index < planned || lane.planning == .planned
                return RunProgress.Stream(
                    lane.stream,
                    items: isPlanned ? Int64(lane.pages.count) : 0,
                    done: index < planned - 1 ? Int64(lane.pages.count) : 0,
                    requestsPerSecond: lane.limit,
                    planning: isPlanned ? .planned : lane.planning,
                    isOfCustomers: lane.stream == .transactionHistory
                )
            }
        }
        return RunProgress(phases: streams, concurrency: concurrency)
    }

    private mutating func record(_ event: RunEvent, at moment: Double) {
        events.append((.seconds(moment), event))
    }

    /// One worker: its lane and item, the page that it waits for, and when that is committed.
    private struct Worker {
        var task: (lane: Int, item: Int, page: Int)?
        var until: Double
    }

    private mutating func play(_ lanes: [Lane]) {
        var workers = Array(repeating: Worker(task: nil, until: end), count: concurrency)
        var nextItem = Array(repeating: 0, count: lanes.count)
        var nextPermit = Array(repeating: end, count: lanes.count)
        var isStallTold = Array(repeating: false, count: lanes.count)
        while true {
            let left = lanes.indices.filter { nextItem[$0] < lanes[$0].pages.count }
            if left.isEmpty, workers.allSatisfy({ $0.task == nil }) { return }
            guard let next = workers.indices.min(by: { workers[$0].until < workers[$1].until }) else { return }
            let now = workers[next].until
            if let task = workers[next].task {
                let lane = lanes[task.lane]
                commit(task, of: lane, at: now)
                end = max(end, now)
                workers[next].task = task.page < lane.pages[task.item] ? (task.lane, task.item, task.page + 1) : nil
            }
            if workers[next].task == nil {
                let held = { (lane: Int) in workers.count { $0.task?.lane == lane } }
                let active = lanes.indices.count { left.contains($0) || held($0) > 0 }
                let share = (concurrency + active - 1) / max(active, 1)
                let lane = left.filter { held($0) < share }.min { held($0) < held($1) }
                guard let lane else {
                    // Nothing to take now; looks again later, as the feed does.
                    workers[next].until = now + 0.1
                    continue
                }
                workers[next].task = (lane, nextItem[lane], 1)
                nextItem[lane] += 1
            }
            guard let task = workers[next].task else { continue }
            let lane = lanes[task.lane]
            var permit = max(now, nextPermit[task.lane])
            if let closing = lane.closing, permit >= closing.at, permit < closing.at + closing.length {
                if !isStallTold[task.lane] {
                    isStallTold[task.lane] = true
                    let left = Duration.seconds(closing.at + closing.length - now)
                    let stall = CrawlEvent.stalled(
                        lane.stream,
                        for: left,
                        until: Self.wallClock + .seconds(closing.at + closing.length)
                    )
                    record(.crawl(stall), at: now)
                }
                permit = closing.at + closing.length
            }
            nextPermit[task.lane] = permit + 1 / lane.limit
            workers[next].until = permit + lane.latency
        }
    }

    private mutating func commit(_ task: (lane: Int, item: Int, page: Int), of lane: Lane, at now: Double) {
        let item = WorkItem(
            stream: lane.stream,
            key: "\(task.item)",
            epoch: 1,
            pageSequence: Int64(task.page),
            cursor: nil,
            window: nil,
            pageCount: task.page
        )
        let outcome = PageOutcome(
            item: item,
            rowsNew: 1,
            rowsUpdated: 0,
            rowsUnchanged: 0,
            rejected: [],
            newlyRejected: [],
            sawRevocation: lane.revocationEvery > 0 && task.item % lane.revocationEvery == 0
        )
        record(.crawl(.committed(outcome, requests: 1)), at: now)
        if task.page == lane.pages[task.item] { record(.crawl(.finished(item)), at: now) }
    }
}
