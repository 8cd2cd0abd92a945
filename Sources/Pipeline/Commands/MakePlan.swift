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
    package func plan() async throws -> PlanReport {
        let now = UnixMilliseconds(rawValue: time.wallClock())
        var counted = IDCount(distinct: 0, duplicates: 0)
        var changed: ChangedSoFar?
        if case .changedSince = job.transactionIds {
            try await openLedger()
            changed = try await changedSoFar(now: now)
            let expected = max(changed?.customers ?? 0, changed?.customersOfLastRun ?? 0)
            counted.distinct = Int(changed?.unfinished?.customers ?? expected)
        }
        var ownIds: [StreamName: Int] = [:]
        var warnings = job.warnings(at: now)
        for list in job.idLists {
            let count = try await self.count(list)
            if let stream = list.stream { ownIds[stream] = count.distinct } else { counted = count }
            if count.distinct == 0 { warnings.append(EmptyList(list).sentence) }
            if let nulls = count.nullSentence { warnings.append("\(list.key): \(nulls)") }
            guard case .query(let sql) = list.list else { continue }
            warnings += try await ledger.sharedNames(in: sql).map { $0.readsOwn(list.key) }
        }
        return PlanReport(of: job, ids: counted, ownIds: ownIds, changed: changed, warnings: warnings, now: now)
    }

    /// The number of IDs in a list; a query is counted by the database.
    private func count(_ list: NamedIDList) async throws -> IDCount {
        if let count = try IDSource(list.list, of: list.kind).count() { return count }
        guard case .query(let sql) = list.list else { return IDCount(distinct: 0, duplicates: 0) }
        try await ledger.connect()
        return try await ledger.countListed(by: sql, of: list.kind)
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
