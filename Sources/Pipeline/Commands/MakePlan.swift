import AppStoreModel
import Basics
import JobPlan
import Ledger
package import Planning

extension Pipeline {
    /// The job's work, and how long it takes under Apple's limits.
    ///
    /// Sends nothing and writes nothing. Queries the database only for the number of IDs that come from a query
    /// or from notifications.
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
        return PlanReport(of: job, ids: counted, changed: changed, now: now)
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
}
