package import AppStoreModel

/// What a run needs at the least, before anything is sent.
package struct PlanEstimate: Equatable, Sendable {
    package struct StreamEstimate: Equatable, Sendable {
        package let stream: StreamName
        /// Whether the items are windows for the whole app, not IDs.
        package let isWholeApp: Bool
        /// IDs, or windows for the whole app.
        ///
        /// At most so many when ``isUpperBound``.
        package let items: Int
        /// One for each item: how many pages follow, only Apple knows.
        package let minimumRequests: Int
        /// Of windows for the whole app: the least that a run a night after the last one needs, readings of earlier days
        /// included; `nil` for other streams, and for one that ends at a fixed date.
        package let nightlyRequests: Int?
        /// Whether the run may need fewer, because it asks only about customers with a revocation.
        package let isUpperBound: Bool
        /// How long the requests take at Apple's limit.
        package let atLimit: Duration
        /// How long they take at the job's share of it.
        package let atShare: Duration
    }

    /// One for each stream of the job.
    package let streams: [StreamEstimate]

    /// Counts what `job` needs.
    ///
    /// - Parameters:
    ///   - job: A job that has been checked.
    ///   - transactionIds: How many IDs the job's source holds.
    ///   - now: When the run would first ask.
    ///   - lastRun: Until when an earlier run asked for notifications; `nil` when there was none.
    ///   - daysToReadAgain: Closed days that are due for their second reading.
    package init(
        job: JobFile,
        transactionIds: Int,
        now: UnixMilliseconds,
        lastRun: UnixMilliseconds?,
        daysToReadAgain: Int = 0
    ) {
        let environment = job.app.environment
        streams = job.streams.all.map { stream in
            var items = transactionIds
            var nightly: Int?
            if stream.items == .windows, let dates = stream.dates {
                if let lastRun {
                    items = dates.countLaterWindows(now: now, lastRun: lastRun, in: environment) + daysToReadAgain
                } else {
                    let asked = dates.span(now: now, lastRun: nil, in: environment).asked
                    items = NotificationWindows.slices(from: asked.lowerBound, to: asked.upperBound).count
                }
                if dates.endDate == .now {
                    let lastNight = now - .seconds(86_400)
                    nightly = dates.countLaterWindows(now: now, lastRun: lastNight, in: environment) + 1
                }
            }
            let allowed = job.limits.allowedRate(of: stream.name, in: environment)
            return StreamEstimate(
                stream: stream.name,
                isWholeApp: stream.items == .windows,
                items: items,
                minimumRequests: items,
                nightlyRequests: nightly,
                isUpperBound: stream.items == .customersWithRevocation,
                atLimit: .seconds(Double(items) / (allowed / job.limits.share)),
                atShare: .seconds(Double(items) / allowed)
            )
        }
    }

    /// How long the run takes at Apple's limit, if no item has a second page.
    ///
    /// Streams go side by side, so the slowest decides. Only refunds of the revoked come after the rest, which finds
    /// out whom to ask about; they are counted as if that were everybody, so that the time is then an upper bound.
    package var atLimit: Duration { together(\.atLimit) }

    /// How long the run takes at the job's share of the limit; see ``atLimit``.
    package var atShare: Duration { together(\.atShare) }

    /// Whether ``atLimit`` and ``atShare`` suppose that every customer has a revocation.
    package var isUpperBound: Bool { streams.contains(where: \.isUpperBound) }

    private func together(_ time: (StreamEstimate) -> Duration) -> Duration {
        let sideBySide = streams.filter { !$0.isUpperBound }.map(time).max() ?? .zero
        return streams.filter(\.isUpperBound).map(time).reduce(sideBySide, +)
    }
}
