/// How much one run did, counted from its items; the same whoever asks, and whatever was killed on the way.
package struct RunSummary: Equatable, Sendable, Codable {
    package var run: Int64
    package var items: Int64 = 0
    package var itemsDone: Int64 = 0
    package var itemsFailed: Int64 = 0
    package var pages: Int64 = 0
    package var requests: Int64 = 0
    package var rowsNew: Int64 = 0
    package var rowsUpdated: Int64 = 0
    package var rowsUnchanged: Int64 = 0
    package var recordsRejected: Int64 = 0
    package var gaps: Int64 = 0
    /// Records of erased customers that came and were not stored.
    package var recordsWithheld: Int64 = 0
    /// Listed IDs of erased customers, which were not asked for.
    package var idsWithheld: Int64 = 0

    package init(run: Int64) {
        self.run = run
    }

    /// Whether every item has reached an end, good or bad.
    package var isComplete: Bool { itemsDone + itemsFailed == items }
    /// Whether something the job asked for is missing.
    package var hasLosses: Bool { itemsFailed > 0 || recordsRejected > 0 || gaps > 0 }
    /// What a run with this result ends with.
    ///
    /// Documented in `docs/reference/exit-codes.md`.
    package var exitCode: Int32 { hasLosses ? 2 : 0 }
}
