import Actions

/// `actions run` was stopped on purpose.
struct StoppedActions: PlannedStop {
    let limit: Duration?
    /// `nil` if the ledger did not answer in time.
    let batches: [BatchStatus]?

    var remainder: String { "with \(left); storeledger actions run JOB continues" }

    private var left: String {
        guard let batches else { return "work left" }
        func rows(_ states: RowState...) -> Int64 {
            batches.reduce(0) { sum, batch in states.reduce(sum) { $0 + batch.count($1) } }
        }
        let unsent = rows(.planned, .approved)
        let unknown = rows(.sending, .unknown, .confirming)
        let all = batches.reduce(0) { $0 + $1.batch.rowsToSend }
        return "\(unsent) of \(all) rows left" + (unknown > 0 ? " and \(unknown) unknown" : "")
    }
}
