import Actions
import AppStoreModel
import JobFiles

extension MetricsText {
    /// The metrics of `actions run`.
    ///
    /// - Parameters:
    ///   - batches: The batches that the command worked on; empty if the ledger could not be read.
    ///   - job: `nil` if the job file was not read; then there are no batches.
    ///   - exit: How the command ended.
    init(_ batches: [BatchStatus], of job: ActionJob?, exit: LastExit) {
        self.init(exit)
        guard let job, let newest = batches.last else { return }
        let labels = [
            ("app", job.app.bundleId), ("environment", job.app.environment.rawValue), ("job_name", job.name),
        ]
        add(
            "storeledger_action_rows",
            "Rows of the batches that the last process sent, by outcome.",
            ActionResultFile.allCases.map { file in
                (labels + [("outcome", file.rawValue)], Double(batches.reduce(0) { $0 + $1.count(file) }))
            }
        )
        let moments: [(String, String, UnixMilliseconds?)] = [
            ("planned", "When the newest of these batches was planned.", newest.batch.plannedAt),
            ("approved", "When it was approved.", newest.batch.approvedAt),
            ("finished", "When each of its rows had an outcome, known or not.", newest.batch.finishedAt),
            ("oldest_unknown", "When the oldest row with an unknown outcome was first sent.", batches.oldestUnknown),
        ]
        for (name, help, moment) in moments {
            let samples = moment.map { [(labels, Double($0.rawValue / 1_000))] } ?? []
            add("storeledger_action_\(name)_timestamp_seconds", help, samples)
        }
    }
}

extension [BatchStatus] {
    fileprivate var oldestUnknown: UnixMilliseconds? {
        compactMap(\.oldestUnknown?.firstSentAt).min { $0.rawValue < $1.rawValue }
    }
}
