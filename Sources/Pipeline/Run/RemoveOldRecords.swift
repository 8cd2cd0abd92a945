import JobFiles
import Ledger

extension Pipeline {
    /// Removes records that are older than the terms of the job's `retention`, after a complete run.
    ///
    /// The run is already complete, so a failure is reported but does not fail it. The next run continues.
    ///
    /// - Parameter report: Receives the message of a failure.
    /// - Returns: The removed rows of each part with a term, of all apps of the job.
    func removeOldRecords(report: @Sendable (RunEvent) -> Void) async -> [OldRecords] {
        var removed: [OldRecords] = []
        do {
            let apps = try await knownApps().map(\.app)
            for (part, term) in job.retention.parts {
                var all = OldRecords(part: part)
                // All items of a job belong to one app.
                for app in part == .items ? apps.prefix(1) : apps[...] {
                    all.add(try await ledger.removeOld(part, olderThan: term, job: job.name, app: app))
                }
                removed.append(all)
            }
        } catch {
            report(
                .remark(
                    "the run is complete, but old records were not all removed: \(Failure(error).message); the next run continues"
                )
            )
        }
        return removed
    }
}
