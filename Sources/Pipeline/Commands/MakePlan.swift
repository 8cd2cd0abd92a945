import AppStoreModel
import Basics
import JobPlan
import Ledger
package import Planning

extension Pipeline {
    /// The job's work, and how long it takes under Apple's limits.
    ///
    /// Sends nothing and writes nothing. Queries the database only for the number of IDs that come from a query or from
    /// notifications.
    ///
    /// - Throws: Errors that ``Failure/init(_:)`` explains.
    package func plan() async throws -> PlanReport {
        let now = UnixMilliseconds(rawValue: time.wallClock())
        var counted = IDCount(distinct: 0, duplicates: 0)
        var changed: ChangedSoFar?
        switch job.transactionIds {
        case nil: break
        case .listed(let list): counted = try await count(list, of: .transaction)
        case .changedSince:
            try await openLedger()
            changed = try await changedSoFar(now: now)
            counted.distinct = Int(max(changed?.customers ?? 0, changed?.customersOfLastRun ?? 0))
        }
        var ownIds: [StreamName: Int] = [:]
        for stream in job.streams.all {
            guard let own = stream.ownList else { continue }
            ownIds[stream.name] = try await count(own.list, of: own.kind).distinct
        }
        return PlanReport(of: job, ids: counted, ownIds: ownIds, changed: changed, now: now)
    }

    /// The number of IDs in a list; a query is counted by the database.
    private func count(_ list: IDList, of kind: IDKind) async throws -> IDCount {
        if let count = try IDSource(list, of: kind).count() { return count }
        guard case .query(let sql) = list else { return IDCount(distinct: 0, duplicates: 0) }
        try await ledger.connect()
        let listed = try await ledger.countListed(by: sql, of: kind)
        return IDCount(distinct: listed.distinct, duplicates: listed.duplicates)
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
