import Basics
import Ledger

/// A command was stopped on purpose before its end: by `--max-duration` or by a signal.
///
/// It is not a failure: the next start continues with the rest.
protocol PlannedStop: ExplainedError {
    /// `nil` for a signal, which only the caller knows.
    var limit: Duration? { get }
    /// How much is left, and how to go on.
    var remainder: String { get }
}

extension PlannedStop {
    var status: ExitStatus { .workLeft }
    var sentence: String { "stopped\(limit.map { " after \($0.inWords)" } ?? "") \(remainder)" }
}

/// A run of a crawl was stopped on purpose.
struct StoppedRun: PlannedStop {
    let limit: Duration?
    let itemsLeft: Int64
    let items: Int64

    /// Fails if `error` shows that the run ended for another reason, or if nothing was counted.
    init?(_ error: any Error, _ summary: RunSummary?) {
        guard let summary else { return nil }
        switch error {
        case let error as DeadlineReached: limit = error.limit
        case is CancellationError: limit = nil
        default: return nil
        }
        items = summary.items
        itemsLeft = summary.items - summary.itemsDone - summary.itemsFailed
    }

    var remainder: String {
        let left = itemsLeft > 0 ? "\(itemsLeft) of \(items) items left" : "all items done, but the run not ended"
        return "with \(left); storeledger run JOB continues"
    }
}
