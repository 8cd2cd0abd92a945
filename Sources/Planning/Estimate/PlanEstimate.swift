package import AppStoreModel
package import JobFiles
import JobSyntax
import Streams

/// The least number of requests that a run needs, estimated before anything is sent.
package struct PlanEstimate: Equatable, Sendable {
    package struct StreamEstimate: Equatable, Sendable {
        package let stream: StreamName
        /// Whether the items are app-wide windows instead of IDs.
        package let isWholeApp: Bool
        /// The number of IDs or app-wide windows; with ``isUpperBound``, the largest possible number.
        package let items: Int
        /// One for each item.
        ///
        /// Further pages are not known in advance.
        package let minimumRequests: Int
        /// For app-wide windows, the least number of requests of a nightly run, including second readings of earlier
        /// days.
        ///
        /// `nil` for other streams, and for a stream that ends at a fixed date.
        package let nightlyRequests: Int?
        /// Whether the run can need fewer requests, because it requests only customers with a revocation.
        package let isUpperBound: Bool
        /// How long the requests take at Apple's limit.
        package let atLimit: Duration
        /// How long the requests take at the job's share of Apple's limit.
        package let atShare: Duration
    }

    /// One for each stream of the job.
    package let streams: [StreamEstimate]

    /// Estimates the requests of `job`.
    ///
    /// - Parameters:
    ///   - job: A job that has been checked.
    ///   - transactionIds: The number of IDs in the job's source.
    ///   - ownIds: The number of IDs in the list of each stream that has one, and of known groups for a stream of groups.
    ///   - now: When the run would begin.
    ///   - lastRun: The end of the time for which an earlier run requested notifications. `nil` without an earlier run.
    ///   - daysToReadAgain: The number of closed days that are due for their second reading.
    ///   - left: The items that an unfinished run has left, for each stream whose items it has planned.
    package init(
        job: JobFile,
        transactionIds: Int,
        ownIds: [StreamName: Int] = [:],
        now: UnixMilliseconds,
        lastRun: UnixMilliseconds?,
        daysToReadAgain: Int = 0,
        left: [StreamName: Int64] = [:]
    ) {
        let environment = job.app.environment
        streams = job.streams.all.map { stream in
            let hasOwnItems = stream.items == .ownList || stream.items == .knownGroups
            var items = hasOwnItems ? ownIds[stream.name] ?? 0 : transactionIds
            var nightly: Int?
            if stream.items == .windows, let dates = stream.dates {
                if let lastRun {
                    items = dates.countLaterWindows(now: now, lastRun: lastRun, in: environment) + daysToReadAgain
                } else {
                    let requested = dates.span(now: now, lastRun: nil, in: environment).requested
                    items = NotificationWindows.slices(from: requested.lowerBound, to: requested.upperBound).count
                }
                if dates.endDate == .now {
                    let lastNight = now - .seconds(86_400)
                    nightly = dates.countLaterWindows(now: now, lastRun: lastNight, in: environment) + 1
                }
            }
            if let left = left[stream.name] { items = Int(left) }
            let allowed = job.limits.allowedRate(of: stream.name, in: environment)
            return StreamEstimate(
                stream: stream.name,
                isWholeApp: stream.items == .windows,
                items: items,
                minimumRequests: items,
                nightlyRequests: nightly,
                isUpperBound: stream.items == .customersWithRevocation && left[stream.name] == nil,
                atLimit: .seconds(Double(items) / (allowed / job.limits.share)),
                atShare: .seconds(Double(items) / allowed)
            )
        }
    }

    /// How long the run takes at Apple's limit, if no item has a second page.
    ///
    /// Streams run concurrently, so the slowest one decides. Refunds of customers with a revocation are requested
    /// afterwards, because the other streams find these customers. They are estimated as all customers, so the time is
    /// then an upper bound.
    package var atLimit: Duration { together(\.atLimit) }

    /// How long the run takes at the job's share of the limit; see ``atLimit``.
    package var atShare: Duration { together(\.atShare) }

    /// Whether ``atLimit`` and ``atShare`` assume that every customer has a revocation.
    package var isUpperBound: Bool { streams.contains(where: \.isUpperBound) }

    private func together(_ time: (StreamEstimate) -> Duration) -> Duration {
        let sideBySide = streams.filter { !$0.isUpperBound }.map(time).max() ?? .zero
        return streams.filter(\.isUpperBound).map(time).reduce(sideBySide, +)
    }
}
