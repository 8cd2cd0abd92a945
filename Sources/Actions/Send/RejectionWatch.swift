import JobFiles

/// Decides from the outcomes of rows whether `stopAfter` ends the run.
struct RejectionWatch: Sendable {
    private let rule: ActionJob.StopRule
    private var consecutive: Int
    private var rejected: Int
    private var ended: Int

    /// - Parameters:
    ///   - rejected: The rejected rows of the batch so far, over all processes.
    ///   - ended: Its rows with a known outcome so far.
    ///   - consecutive: How many of the last ones were rejected in a row.
    init(rule: ActionJob.StopRule, rejected: Int, ended: Int, consecutive: Int = 0) {
        self.rule = rule
        self.rejected = rejected
        self.ended = ended
        self.consecutive = consecutive
    }

    /// Records the outcome of a row.
    ///
    /// - Returns: A sentence if the run must end.
    mutating func note(isRejected: Bool) -> String? {
        ended += 1
        guard isRejected else {
            consecutive = 0
            return nil
        }
        consecutive += 1
        rejected += 1
        if let limit = rule.consecutiveRejections, consecutive >= limit {
            return "Apple rejected \(consecutive) rows in a row (stopAfter.consecutiveRejections)"
        }
        if let limit = rule.rejectedShare, ended >= ActionJob.StopRule.leastRows,
            Double(rejected) > limit * Double(ended)
        {
            return "Apple rejected \(rejected) of \(ended) rows, more than stopAfter.rejectedShare (\(limit))"
        }
        return nil
    }
}
