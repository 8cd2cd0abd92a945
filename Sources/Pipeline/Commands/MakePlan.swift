import AppStoreModel
import Basics
import FoundationEssentials
import JobPlan
import Ledger

extension Pipeline {
    /// The job's work, and how long it takes under Apple's limits.
    ///
    /// Sends nothing and writes nothing. Queries the database only for the number of IDs that come from a query or from
    /// notifications.
    ///
    /// - Throws: Errors that ``Failure/init(_:)`` explains.
    package func plan() async throws -> PlanReport {
        let source = IDSource(job: job)
        let now = UnixMilliseconds(rawValue: time.wallClock())
        let counted: IDCount
        var changed: ChangedSoFar?
        if let count = try source.count() {
            counted = count
        } else if case .query(let sql) = job.transactionIds {
            try await ledger.connect()
            let listed = try await ledger.countListed(by: sql)
            counted = IDCount(distinct: listed.distinct, duplicates: listed.duplicates)
        } else {
            try await openLedger()
            changed = try await changedSoFar(now: now)
            counted = IDCount(distinct: Int(changed?.customers ?? 0), duplicates: 0)
        }
        let estimate = PlanEstimate(
            job: job,
            transactionIds: counted.distinct,
            now: now,
            lastRun: changed?.notificationsUntil,
            daysToReadAgain: Int(changed?.daysToReadAgain ?? 0)
        )
        return PlanReport(
            job: job.name,
            transactionIds: counted.distinct,
            duplicates: counted.duplicates,
            transactionIdsAreEstimated: counted.isEstimate,
            share: job.limits.share,
            streams: estimate.streams.map { stream in
                PlanReport.Line(
                    stream: stream.stream.rawValue,
                    items: stream.items,
                    requestsAtLeast: stream.minimumRequests,
                    nightlyRequestsAtLeast: stream.nightlyRequests,
                    secondsAtAppleLimit: stream.atLimit.inSeconds,
                    secondsAtShare: stream.atShare.inSeconds,
                    remark: remark(on: stream, changed)
                )
            },
            secondsAtAppleLimit: estimate.atLimit.inSeconds,
            secondsAtShare: estimate.atShare.inSeconds,
            remark: estimate.isUpperBound
                ? "the longest time, if every customer has a revocation; refunds are requested last" : nil
        )
    }

    /// The customers that a run would request because of notifications already in the ledger.
    ///
    /// `nil` if no job of the app has run yet.
    func changedSoFar(now: UnixMilliseconds) async throws -> ChangedSoFar? {
        guard let app = try await knownApp() else { return nil }
        return try await ledger.changedSoFar(
            RunPlan(job: job, app: app, now: now, restart: false, version: version)
        )
    }

    private func remark(on stream: PlanEstimate.StreamEstimate, _ changed: ChangedSoFar?) -> String? {
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

extension Duration {
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}

extension UnixMilliseconds {
    /// ISO 8601 in UTC, to the second.
    fileprivate var text: String { Date(timeIntervalSince1970: Double(rawValue / 1_000)).ISO8601Format() }
}
