package import AppStoreModel
import Basics
import FoundationEssentials
package import JobPlan

/// The output of `plan`: the amount of work, and how long it takes under Apple's limits.
///
/// Its JSON form is stable.
package struct PlanReport: Codable, Sendable {
    package struct Line: Codable, Sendable {
        package let stream: String
        package let items: Int
        /// At least one page for each item; items with more than twenty records need more.
        package let requestsAtLeast: Int
        /// The fewest requests of a run one night later, for all notifications of the app.
        ///
        /// Includes days that are read again.
        package let nightlyRequestsAtLeast: Int?
        package let secondsAtAppleLimit: Double
        package let secondsAtShare: Double
        package let remark: String?
    }

    package let job: String
    package let transactionIds: Int
    package let duplicates: Int
    /// Whether the two figures above are estimates: a list of more than a million IDs is counted from a sample.
    package let transactionIdsAreEstimated: Bool
    package let share: Double
    package let streams: [Line]
    /// The time of the slowest stream, because streams run in parallel, plus refunds of revoked purchases,
    /// which run last.
    package let secondsAtAppleLimit: Double
    package let secondsAtShare: Double
    /// Assumptions of the two figures.
    package let remark: String?
}

extension PlanReport {
    /// - Parameters:
    ///   - job: A job that has been checked.
    ///   - ids: The number of IDs in the job's source.
    ///   - ownIds: The number of IDs in the list of each stream that has one.
    ///   - changed: What earlier runs have followed; `nil` if no job of the app has run, or the job lists its IDs.
    ///   - now: When the run would begin.
    package init(
        of job: JobFile,
        ids: IDCount,
        ownIds: [StreamName: Int],
        changed: ChangedSoFar?,
        now: UnixMilliseconds
    ) {
        let estimate = PlanEstimate(
            job: job,
            transactionIds: ids.distinct,
            ownIds: ownIds,
            now: now,
            lastRun: changed?.notificationsUntil,
            daysToReadAgain: Int(changed?.daysToReadAgain ?? 0)
        )
        self.init(
            job: job.name,
            transactionIds: ids.distinct,
            duplicates: ids.duplicates,
            transactionIdsAreEstimated: ids.isEstimate,
            share: job.limits.share,
            streams: estimate.streams.map { stream in
                Line(
                    stream: stream.stream.rawValue,
                    items: stream.items,
                    requestsAtLeast: stream.minimumRequests,
                    nightlyRequestsAtLeast: stream.nightlyRequests,
                    secondsAtAppleLimit: stream.atLimit.inSeconds,
                    secondsAtShare: stream.atShare.inSeconds,
                    remark: Self.remark(on: stream, of: job, changed)
                )
            },
            secondsAtAppleLimit: estimate.atLimit.inSeconds,
            secondsAtShare: estimate.atShare.inSeconds,
            remark: estimate.isUpperBound
                ? "the longest time, if every customer has a revocation; refunds are requested last" : nil
        )
    }

    private static func remark(
        on stream: PlanEstimate.StreamEstimate,
        of job: JobFile,
        _ changed: ChangedSoFar?
    ) -> String? {
        if case .changedSince(let since) = job.transactionIds, !stream.isWholeApp {
            let known =
                "at least: counted from notifications in the ledger; a run requests new ones first and adds their customers"
            guard since == .lastRun else { return known }
            let followed = changed?.followedUntil.map { "followed until \($0.text)" }
            return "\(known) (\(followed ?? "no earlier run followed them"))"
        }
        if stream.isUpperBound { return "at most: only customers with a revocation in their history" }
        if stream.isWholeApp {
            guard let nightly = stream.nightlyRequests else { return "windows of at most a day" }
            return
                "windows of at most a day; a run one night later needs at least \(nightly), including days that are read again"
        }
        return nil
    }
}

extension UnixMilliseconds {
    /// ISO 8601 in UTC, to the second.
    fileprivate var text: String { Date(timeIntervalSince1970: Double(rawValue / 1_000)).ISO8601Format() }
}
