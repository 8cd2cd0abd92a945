package import Ledger

/// The counts of a run in `run --json` and in notifications; documented in `docs/reference/json.md` and stable.
package struct RunCountsJSON: Encodable, Sendable {
    private let listedIds: Int64
    private let emptyLists: Int64
    private let items: Int64
    private let itemsDone: Int64
    private let itemsFailed: Int64
    private let pages: Int64
    private let requests: Int64
    private let rowsNew: Int64
    private let rowsUpdated: Int64
    private let rowsUnchanged: Int64
    private let recordsRejected: Int64
    private let recordsWithheld: Int64
    private let idsWithheld: Int64
    private let gaps: Int64

    package init(_ summary: RunSummary) {
        listedIds = summary.listedIDs
        emptyLists = summary.emptyLists
        items = summary.items
        itemsDone = summary.itemsDone
        itemsFailed = summary.itemsFailed
        pages = summary.pages
        requests = summary.requests
        rowsNew = summary.rowsNew
        rowsUpdated = summary.rowsUpdated
        rowsUnchanged = summary.rowsUnchanged
        recordsRejected = summary.recordsRejected
        recordsWithheld = summary.recordsWithheld
        idsWithheld = summary.idsWithheld
        gaps = summary.gaps
    }
}
