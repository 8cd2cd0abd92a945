import Basics
import JobFiles
import Ledger
import Pipeline
import Publish
import Status

/// The summary that `run` writes to stdout.
struct RunSummaryText {
    let report: SessionResult
    /// The path of the job file.
    let job: String
    /// Written behind the job's name; `nil` in a process of one app.
    var app: String?

    var lines: [String] {
        let summary = report.summary
        var lines = [
            "\(report.job)\(app.map { " of \($0)" } ?? ""): run \(summary.run) \(report.ending)",
            row("items", "\(summary.items) (\(summary.itemsDone) done, \(summary.itemsFailed) failed)"),
            row("pages", "\(summary.pages)"),
            row("requests", "\(summary.requests)"),
            row("rows", "\(summary.rowsNew) new, \(summary.rowsUpdated) updated, \(summary.rowsUnchanged) unchanged"),
            row("rejected", "\(summary.recordsRejected)"),
        ]
        if report.sources != nil, summary.listedIDs > 0 {
            lines.insert(row("customers", "\(summary.listedIDs) named by notifications"), at: 1)
        }
        if let sources = report.sources, sources.lacksList {
            let list =
                sources.largestList == 0
                ? "" : " who are in no list (the largest had \(sources.largestListInWords))"
            lines.append(
                row(
                    "missing",
                    "customers without a notification\(list); to add them, run a job with list, csv or query once"
                )
            )
        }
        if summary.recordsWithheld + summary.idsWithheld > 0 {
            let records = counted(summary.recordsWithheld, "record")
            lines.append(row("withheld", "\(records) and \(counted(summary.idsWithheld, "ID")) of erased customers"))
        }
        if summary.emptyLists > 0 { lines.append(row("lists without an ID", "\(summary.emptyLists)")) }
        if summary.unreadableReceipts > 0 { lines.append(row("bad receipts", "\(summary.unreadableReceipts)")) }
        if summary.gaps > 0 { lines.append(row("gaps", "\(summary.gaps)")) }
        lines.append(row("waited for limits", report.waitedForLimits.inWords))
        lines.append(row("elapsed", report.elapsed.inWords))
        for files in report.published {
            lines.append(row(files.output.format.title, "\(files.output.directory): \(files.fileList)"))
        }
        if let failure = report.viewsFailure { lines.append(row("views", namingJob(job, in: failure))) }
        for old in report.removed { lines.append(row("removed", old.inWords)) }
        if summary.hasLosses { lines.append(namingJob(job, in: "To see what is missing: storeledger status JOB")) }
        return lines
    }

    private func row(_ name: String, _ value: String) -> String {
        "  " + padded(name, to: 19) + value
    }
}

extension SessionResult {
    /// How the run ended, such as `complete, but data is missing`.
    var ending: String {
        summary.hasLosses
            ? "complete, but data is missing" : viewsFailure == nil ? "complete" : "complete, but the views are old"
    }
}
