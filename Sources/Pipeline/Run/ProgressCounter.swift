import Basics
import JobFiles
import Ledger
import Synchronization

/// Counts a run's items for the display.
final class ProgressCounter: Sendable {
    /// How often the items are counted again, because other processes finish some.
    static let interval = Duration.seconds(60)
    /// A count of many items takes long; at most this share of the time is spent on counting.
    static let largestShare = 0.02

    private let ledger: Ledger
    private let plan: RunPlan
    private let run: Int64
    private let concurrency: Int
    private let time: Timekeeper
    private let planned = Mutex<Set<RunProgress.Planning>>([.planned])

    /// Makes the counter of a run, in which this process crawls `concurrency` items at the same time.
    init(ledger: Ledger, plan: RunPlan, run: Int64, concurrency: Int, time: Timekeeper) {
        self.ledger = ledger
        self.plan = plan
        self.run = run
        self.concurrency = concurrency
        self.time = time
    }

    /// Counts the items; `planning` is what has been planned since the last call, if anything.
    func count(afterPlanning planning: RunProgress.Planning = .planned) async throws -> RunProgress {
        let planned = planned.withLock { planned in
            planned.insert(planning)
            return planned
        }
        let counts = try await ledger.itemCounts(of: run, app: plan.app, job: plan.job.name)
        return plan.progress(counts, concurrency: concurrency, planned: planned)
    }

    /// Counts the items again and again until cancelled.
    func countAgain(_ report: (RunProgress) -> Void) async throws {
        var pause = Self.interval
        while true {
            try await time.sleep(pause)
            let began = time.monotonic()
            // The count is only for the display, so a failure does not end the run.
            if let progress = try? await count() { report(progress) }
            pause = max(Self.interval, (time.monotonic() - began) / Self.largestShare)
        }
    }
}
