package import AppStoreModel
import Basics
import FoundationEssentials
package import JobFiles
import JobSyntax
import Streams

/// The output of `plan`: the amount of work, and how long it takes under Apple's limits.
///
/// Its JSON form is stable.
package struct PlanReport: Codable, Sendable {
    package struct Line: Codable, Sendable {
        package let stream: String
        /// `nil` if the number of customers is not known yet.
        package let items: Int?
        /// At least one page for each item; items with more than twenty records need more.
        package let requestsAtLeast: Int?
        /// Whether the run can need fewer requests, because it requests only customers with a revocation.
        package let isUpperBound: Bool
        /// The fewest requests of a run one night later, for all notifications of the app.
        ///
        /// Includes days that are read again.
        package let nightlyRequestsAtLeast: Int?
        package let secondsAtAppleLimit: Double?
        package let secondsAtShare: Double?
        package let remark: String?
    }

    package let job: String
    /// `nil` if the customers come from notifications that no run has read yet.
    package let transactionIds: Int?
    package let duplicates: Int
    /// Whether the two figures above are estimates: a list of more than a million IDs is counted from a sample.
    package let transactionIdsAreEstimated: Bool
    /// The share of Apple's limits that the job uses, more than 0 and at most 1.
    package let share: Double
    package let streams: [Line]
    /// The time of the slowest stream plus the time of refunds; `nil` if the number of customers is not known yet.
    ///
    /// Streams run in parallel, except for the refunds of revoked purchases, which run last.
    package let secondsAtAppleLimit: Double?
    package let secondsAtShare: Double?
    /// What the two times above assume.
    package let remark: String?
    /// Whether the customers are counted from notifications, so that a run can find more.
    package let followsNotifications: Bool
    /// Whether an earlier run has read the notifications, so that a run requests only customers who have changed since.
    package let continuesLastRun: Bool
    /// The unfinished run that a start would continue; the figures are of its remaining items.
    ///
    /// Counted only for jobs that follow notifications.
    package let unfinishedRun: Int64?
    /// Whether the job file names a list of transaction IDs.
    package let listsTransactionIds: Bool
    /// Sentences about what a run would leave out, or why it would end with exit code 2.
    package let warnings: [String]
}

extension PlanReport {
    /// - Parameters:
    ///   - job: A job that has been checked.
    ///   - ids: The number of IDs in the job's source.
    ///   - ownIds: The number of IDs in the list of each stream that has one.
    ///   - changed: What earlier runs have followed; `nil` if no job of the app has run, or the job lists its IDs.
    ///   - warnings: What a run would leave out.
    ///   - now: When the run would begin.
    package init(
        of job: JobFile,
        ids: IDCount,
        ownIds: [StreamName: Int],
        changed: ChangedSoFar?,
        warnings: [String] = [],
        now: UnixMilliseconds
    ) {
        var followsNotifications = false
        if case .changedSince = job.transactionIds { followsNotifications = true }
        let unfinished = changed?.unfinished
        // The first run finds most customers in the notifications that it has not read yet.
        let isFirstReading = unfinished.map { $0.customers == nil && changed?.followedUntil == nil }
        let isUnknown =
            followsNotifications && (isFirstReading ?? (ids.distinct == 0 && changed?.notificationsUntil == nil))
        let estimate = PlanEstimate(
            job: job,
            transactionIds: ids.distinct,
            ownIds: ownIds,
            now: now,
            lastRun: changed?.notificationsUntil,
            daysToReadAgain: Int(changed?.daysToReadAgain ?? 0),
            left: unfinished?.left ?? [:]
        )
        self.init(
            job: job.name,
            transactionIds: isUnknown ? nil : ids.distinct,
            duplicates: ids.duplicates,
            transactionIdsAreEstimated: ids.isEstimate,
            share: job.limits.share,
            streams: zip(job.streams.all, estimate.streams).map { own, stream in
                let hasCount = !(isUnknown && own.items.needsTransactionIDs)
                return Line(
                    stream: stream.stream.rawValue,
                    items: hasCount ? stream.items : nil,
                    requestsAtLeast: hasCount ? stream.minimumRequests : nil,
                    isUpperBound: stream.isUpperBound,
                    nightlyRequestsAtLeast: stream.nightlyRequests,
                    secondsAtAppleLimit: hasCount ? stream.atLimit.inSeconds : nil,
                    secondsAtShare: hasCount ? stream.atShare.inSeconds : nil,
                    remark: hasCount
                        ? Self.remark(on: stream, of: job, changed) : Self.unknownCount(stream, of: job)
                )
            },
            secondsAtAppleLimit: isUnknown ? nil : estimate.atLimit.inSeconds,
            secondsAtShare: isUnknown ? nil : estimate.atShare.inSeconds,
            remark: estimate.isUpperBound && !isUnknown
                ? "the longest time, if every customer has a revocation; refunds are requested last" : nil,
            followsNotifications: followsNotifications,
            continuesLastRun: followsNotifications && changed?.followedUntil != nil,
            unfinishedRun: unfinished?.run,
            listsTransactionIds: job.transactionIds?.list != nil,
            warnings: warnings
        )
    }

    /// The remark while the number of customers is unknown: how long the requests for 1,000 of them take.
    private static func unknownCount(_ stream: PlanEstimate.StreamEstimate, of job: JobFile) -> String {
        let atShare = 1_000 / job.limits.allowedRate(of: stream.stream, in: job.app.environment)
        let words = [atShare * job.limits.share, atShare].map { Duration.seconds($0).inWords(rounded: .up) }
        let customers = stream.isUpperBound ? "1000 of them" : "1000 customers"
        return "\(customers) take at least \(words[0]) at Apple's limit, \(words[1]) at the job's share"
    }

    private static let revocationsOnly = "at most: only customers with a revocation in their history"

    private static func remark(
        on stream: PlanEstimate.StreamEstimate,
        of job: JobFile,
        _ changed: ChangedSoFar?
    ) -> String? {
        if let unfinished = changed?.unfinished, unfinished.left[stream.stream] != nil {
            return "left of run \(unfinished.run)"
        }
        if case .changedSince(let since) = job.transactionIds, !stream.isWholeApp {
            let known = "a run reads new notifications first and adds their customers"
            guard since == .lastRun, let until = changed?.followedUntil else { return known }
            guard let last = changed?.customersOfLastRun, last > 0, last >= changed?.customers ?? 0 else {
                return "\(known); the last run read them until \(until.text)"
            }
            return "estimated from the number that the last run found; \(known)"
        }
        if stream.isUpperBound { return revocationsOnly }
        if job.streams[stream.stream]?.items == .knownGroups {
            return "the groups that the ledger knows; customerGroups can find more, which a run requests last"
        }
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
