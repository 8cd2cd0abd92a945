package import AppStoreModel
import JobFiles
import Ledger
import Streams

/// How much of a run is done, by stream, and what decides how fast the rest can be.
package struct RunProgress: Sendable, Equatable {
    package struct Stream: Sendable, Equatable {
        package let name: StreamName
        /// The items that are planned so far.
        package let items: Int64
        /// How many of ``items`` are done or failed, by any process.
        package let done: Int64
        /// The requests per second that the job may send for the stream, on average over an hour.
        package let requestsPerSecond: Double
        package let planning: Planning
        /// Whether each item is a customer, whose history shows whether there is a revocation.
        package let isOfCustomers: Bool

        package init(
            _ name: StreamName,
            items: Int64,
            done: Int64,
            requestsPerSecond: Double,
            planning: Planning = .planned,
            isOfCustomers: Bool = false
        ) {
            self.name = name
            self.items = items
            self.done = done
            self.requestsPerSecond = requestsPerSecond
            self.planning = planning
            self.isOfCustomers = isOfCustomers
        }
    }

    /// Whether the number of a stream's items is known.
    package enum Planning: Sendable, Equatable {
        case planned
        /// One item for each customer with a revocation, once the streams before it have found them.
        case afterRevocations
        /// One item for each customer that notifications mention, once they are read.
        case afterNotifications
    }

    /// The streams in the order in which they are crawled; the streams of one phase are crawled at the same time.
    package let phases: [[Stream]]
    /// The number of items crawled at the same time by this process.
    package let concurrency: Int

    package init(phases: [[Stream]], concurrency: Int) {
        self.phases = phases
        self.concurrency = concurrency
    }

    package var items: Int64 { phases.joined().reduce(0) { $0 + $1.items } }
    package var done: Int64 { phases.joined().reduce(0) { $0 + $1.done } }
}

extension RunPlan {
    /// The phases of a run, with the streams that are crawled at the same time, and what has to be planned before each.
    private var phases: [[(stream: StreamName, unplanned: RunProgress.Planning)]] {
        let windows = streamsOfWindows.map { ($0, RunProgress.Planning.planned) }
        let ownLists = streamsOfOwnLists.map { ($0, RunProgress.Planning.planned) }
        let customers: RunProgress.Planning = changedSince == nil ? .planned : .afterNotifications
        let lists = streamsOfIDs.map { ($0, customers) } + ownLists
        let last =
            streamsOfRevocations.map { ($0, RunProgress.Planning.afterRevocations) }
            + streamsOfGroups.map { ($0, RunProgress.Planning.planned) }
        return (changedSince == nil ? [windows + lists] : [windows, lists]) + [last]
    }

    /// The progress of the run.
    ///
    /// - Parameters:
    ///   - counts: The items in the ledger, by stream.
    ///   - concurrency: The number of items that this process crawls at the same time.
    ///   - planned: The planning that is complete.
    /// - Returns: The progress, by phase and stream.
    func progress(
        _ counts: [StreamName: ItemCounts],
        concurrency: Int,
        planned: Set<RunProgress.Planning>
    ) -> RunProgress {
        let phases = phases.map { phase in
            phase.map { stream, unplanned in
                RunProgress.Stream(
                    stream,
                    items: counts[stream]?.items ?? 0,
                    done: counts[stream]?.done ?? 0,
                    requestsPerSecond: job.limits.allowedRate(of: stream, in: job.app.environment),
                    planning: planned.contains(unplanned) ? .planned : unplanned,
                    isOfCustomers: job.streams[stream]?.items == .listedIDs
                )
            }
        }
        return RunProgress(phases: phases.filter { !$0.isEmpty }, concurrency: concurrency)
    }
}
