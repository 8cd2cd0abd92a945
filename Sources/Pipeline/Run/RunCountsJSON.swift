package import Ledger

/// The counts of a run in `run --json` and in notifications; documented in `docs/reference/json.md` and stable.
package struct RunCountsJSON: Encodable, Sendable {
    let listedIds: Int64
    let emptyLists: Int64
    let unreadableReceipts: Int64
    let items: Int64
    let itemsDone: Int64
    let itemsFailed: Int64
    let pages: Int64
    let requests: Int64
    let rowsNew: Int64
    let rowsUpdated: Int64
    let rowsUnchanged: Int64
    let recordsRejected: Int64
    let recordsWithheld: Int64
    let idsWithheld: Int64
    let gaps: Int64

    package init(_ summary: RunSummary) {
        listedIds = summary.listedIDs
        emptyLists = summary.emptyLists
        unreadableReceipts = summary.unreadableReceipts
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
