import AppStoreModel
package import Ledger
import LedgerSchema
import Postgres

/// Until when a stream of a job is complete, over all of its items.
///
/// Its JSON form is stable and documented in `docs/reference/json.md`.
package struct StreamCoverage: Codable, Sendable, Equatable {
    package let app: String
    package let environment: String
    package let job: String
    package let stream: String
    package let items: Int64
    /// Items that have reached their end in the last run that had them.
    package let done: Int64
    /// Items that are waiting or in progress.
    package let unfinished: Int64
    /// Failed items, without ``unknownIds``.
    package let failed: Int64
    /// Failed items whose ID does not exist at Apple.
    package let unknownIds: Int64
    /// Items of which no crawl was ever finished, without ``unknownIds``.
    package let neverComplete: Int64
    /// Every item that was ever complete is complete up to this moment: for windows, the end of the last window before the
    /// first one that is not done.
    ///
    /// `nil` if nothing was ever complete.
    package let completeUntil: String?
    /// The item that is complete up to the latest moment.
    package let newestCompleteUntil: String?
    /// The number of periods that Apple no longer serves.
    package let gaps: Int64
    /// When the first gap begins and the last one ends; `nil` without gaps.
    package let gapsFrom: String?
    package let gapsTo: String?
    /// What Apple leaves out of its answers for items of the stream; `nil` if the answers are complete.
    package let omits: [String]?
    /// For items that are customers, if these come from notifications: customers without a notification since this date
    /// are not found; see ``JobStatus/customersSince``.
    package let customersSince: String?
    /// As ``JobStatus/largestList``.
    package let largestList: Int64?
}

extension Ledger {
    /// Summarises the coverage of a job, by stream.
    package func coverageSummary(of job: String, app: KnownApp) async throws -> [StreamCoverage] {
        try await transaction { connection in
            try connection.script(Self.defaultPlanner)
            let readable = try Readable(connection)
            let context = StatusContext(app: app, job: job, plan: nil, replica: nil, readable: readable)
            let customers = try JobStatus.MissingCustomers.read(context, connection)
            return try connection.run(
                .streamCoverage,
                [
                    "app": .integer(app.id.rawValue), "job": .text(job),
                    "unknown_codes": .textArray(Self.codesOfUnknownIDs),
                ]
            ).map { row in
                let stream = try row.text("stream")
                let omissions = Set(
                    try row.textArray("queries").flatMap { Self.omissions(of: stream, query: $0) ?? [] }
                )
                return StreamCoverage(
                    app: app.bundleId,
                    environment: app.environment,
                    job: job,
                    stream: stream,
                    items: try row.int64("items"),
                    done: try row.int64("done"),
                    unfinished: try row.int64("unfinished"),
                    failed: try row.int64("failed"),
                    unknownIds: try row.int64("unknown"),
                    neverComplete: try row.int64("never"),
                    completeUntil: try row.textOrNil("complete_until"),
                    newestCompleteUntil: try row.textOrNil("newest_until"),
                    gaps: try row.int64("gaps"),
                    gapsFrom: try row.textOrNil("gaps_from"),
                    gapsTo: try row.textOrNil("gaps_to"),
                    omits: omissions.isEmpty ? nil : omissions.sorted(),
                    customersSince: try row.bool("has_windows") ? nil : customers?.customersSince,
                    largestList: try row.bool("has_windows") ? nil : customers?.largestList
                )
            }
        }
    }
}
