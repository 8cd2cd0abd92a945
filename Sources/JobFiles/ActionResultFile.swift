/// The result files of a batch: each input row is in exactly one of them.
package enum ActionResultFile: String, CaseIterable, Sendable {
    /// Apple did what was asked.
    case succeeded
    /// Apple refused, with its code.
    case rejected
    /// Skipped by the plan, not sent yet, or not applied as Apple's data shows.
    case unprocessed
    /// Sent, and it is not known whether Apple applied it.
    case unknown

    package var fileName: String { "\(rawValue).csv" }

    /// Every file written into the directory.
    package static let fileNames = allCases.map(\.fileName) + ["manifest.json"]
}
