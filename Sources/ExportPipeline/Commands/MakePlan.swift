import AppStoreModel
import JobPlan
import Ledger
import Workers

extension ExportPipeline {
    /// What the job has to do and how long Apple's limits make it take.
    ///
    /// Sends nothing and writes nothing. Only when the IDs come from a query is the database asked, for their count.
    /// - Throws: What ``Failure/init(_:)`` explains.
    package func plan() async throws -> PlanReport {
        let source = IDSource(job: job)
        let counted: (distinct: Int, duplicates: Int)
        if let count = try source.count() {
            counted = count
        } else if case .query(let sql) = job.transactionIds {
            try await ledger.connect()
            counted = try await ledger.countListed(by: sql)
        } else {
            counted = (0, 0)
        }
        let now = UnixMilliseconds(rawValue: time.wallClock())
        let estimate = PlanEstimate(job: job, transactionIds: counted.distinct, now: now, lastRun: nil)
        return PlanReport(
            job: job.name,
            transactionIds: counted.distinct,
            duplicates: counted.duplicates,
            share: job.limits.share,
            streams: estimate.streams.map { stream in
                PlanReport.Line(
                    stream: stream.stream.rawValue,
                    items: stream.items,
                    requestsAtLeast: stream.minimumRequests,
                    secondsAtAppleLimit: stream.atLimit.inSeconds,
                    secondsAtShare: stream.atShare.inSeconds,
                    remark: remark(on: stream)
                )
            },
            secondsAtAppleLimit: estimate.atLimit.inSeconds,
            secondsAtShare: estimate.atShare.inSeconds,
            remark: estimate.isUpperBound
                ? "refunds come after the rest; so long only if every customer has a revocation" : nil
        )
    }

    private func remark(on stream: PlanEstimate.StreamEstimate) -> String? {
        if stream.isUpperBound { return "at most: only customers in whose history a revocation is seen" }
        if stream.stream == .notificationHistory, job.streams.notificationHistory?.scope == .app {
            return "windows of at most a day; a later run asks only for the time since the last"
        }
        return nil
    }
}

extension Duration {
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
