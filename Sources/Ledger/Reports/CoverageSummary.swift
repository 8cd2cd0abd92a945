import AppStoreModel
import JobPlan
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
        // Second readings and repeated searches for failed deliveries say nothing about how far the first readings are.
        let sql = """
            SELECT i.*, coalesce(g.gaps, 0) AS gaps, \(Self.moment("g.gaps_from")) AS gaps_from, \(Self.moment("g.gaps_to")) AS gaps_to,
                   \(Self.moment("i.until")) AS complete_until, \(Self.moment("i.newest")) AS newest_until
              FROM (
                SELECT stream, count(*) AS items, array_agg(DISTINCT fingerprint) AS queries,
                       count(*) FILTER (WHERE state = 'done') AS done,
                       bool_or(item_key LIKE '%..%') AS has_windows,
                       count(*) FILTER (WHERE state IN ('waiting', 'leased', 'superseded')) AS unfinished,
                       count(*) FILTER (WHERE state = 'failed' AND NOT is_unknown) AS failed,
                       count(*) FILTER (WHERE is_unknown) AS unknown,
                       count(*) FILTER (WHERE complete_until IS NULL AND NOT is_unknown) AS never,
                       CASE WHEN bool_or(is_first_window)
                            THEN coalesce(min(window_start) FILTER (WHERE is_first_window AND state <> 'done'),
                                          max(complete_until) FILTER (WHERE is_first_window))
                            ELSE min(complete_until) END AS until,
                       max(complete_until) AS newest
                  FROM (SELECT *, state = 'failed' AND coalesce(error_code, 0) = ANY ($3::text[]::bigint[]) AS is_unknown,
                               item_key LIKE '%..%' AND item_key NOT LIKE '%+%' AND item_key NOT LIKE 'failures#%' AS is_first_window
                          FROM crawl_items WHERE app_id = $1 AND job = $2) items
                 GROUP BY stream) i
              LEFT JOIN (SELECT stream, count(*) AS gaps, min(gap_start) AS gaps_from, max(gap_end) AS gaps_to
                           FROM coverage_gaps WHERE app_id = $1 AND job = $2 GROUP BY stream) g USING (stream)
             ORDER BY i.stream
            """
        let parameters: [Cell] = [.integer(app.id.rawValue), .text(job), .textArray(Self.codesOfUnknownIDs)]
        return try await transaction { connection in
            try connection.script(Self.defaultPlanner)
            let readable = try Readable(connection)
            let context = StatusContext(app: app, job: job, plan: nil, replica: nil, readable: readable)
            let customers = try JobStatus.MissingCustomers.read(context, connection)
            return try connection.run(sql, parameters).map { row in
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
