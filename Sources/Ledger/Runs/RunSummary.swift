/// The counts of one run, computed from its items, so that they are correct after a kill and on any machine.
package struct RunSummary: Equatable, Sendable, Codable {
    package var run: Int64
    /// The IDs of the job's list, or the customers whom notifications named; each counts once.
    package var listedIDs: Int64 = 0
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
    /// Records of erased customers that were not stored.
    package var recordsWithheld: Int64 = 0
    /// Listed IDs of erased customers that were not requested.
    package var idsWithheld: Int64 = 0
    /// ID lists without an ID.
    package var emptyLists: Int64 = 0
    /// Rows of an ID list whose receipt is damaged or has no transaction ID.
    package var unreadableReceipts: Int64 = 0

    package init(run: Int64) {
        self.run = run
    }

    /// Whether every item is done or failed.
    package var isComplete: Bool { itemsDone + itemsFailed == items }
    /// Whether requested data is missing.
    package var hasLosses: Bool {
        itemsFailed > 0 || recordsRejected > 0 || gaps > 0 || emptyLists > 0 || unreadableReceipts > 0
    }
    /// The exit code for this result, as documented in `docs/reference/exit-codes.md`.
    package var exitCode: Int32 { hasLosses ? 2 : 0 }
}
