package import Basics
import Ledger
package import LedgerSchema
import Postgres

/// A rejected record of a job; its JSON form is stable and documented in `docs/reference/json.md`.
package struct RejectedRow: Codable, Sendable, Equatable {
    package let id: Int64
    package let environment: String
    package let stream: String
    package let item: String
    package let reason: String
    package let detail: String
    package let firstSeenAt: String
    package let lastSeenAt: String
    /// In how many runs it was received.
    package let seen: Int64
    /// Hexadecimal.
    package let sha256: String?
    /// The text as received, at most 256 KiB; only in an export.
    ///
    /// Invalid UTF-8 is replaced.
    package let raw: String?
}

/// A job has no rejected record with one of these IDs that counts.
package struct UnknownRejects: ExplainedError, Equatable, Sendable {
    package let ids: [Int64]

    package init(ids: [Int64]) {
        self.ids = ids
    }

    package var status: ExitStatus { .badInput }

    package var sentence: String {
        "the job has no open rejected record \(ids.map(String.init).joined(separator: ", ")), so nothing was dismissed; storeledger rejects JOB lists them"
    }
}

extension Ledger {
    /// The rejected records of a job that count, oldest first: neither loaded since nor dismissed.
    ///
    /// - Parameters:
    ///   - app: The app of the job; see ``appsOfRejects(apps:runs:)``.
    ///   - id: Only records with a larger ID.
    ///   - count: The most records to return.
    ///   - withText: Whether to read the texts, which not every role may do.
    /// - Returns: The records; none at the end.
    /// - Throws: ``Postgres/PostgresError``.
    package func rejects(
        of job: String,
        app: AppID,
        after id: Int64,
        atMost count: Int,
        withText: Bool
    ) async throws -> [RejectedRow] {
        try await transaction { connection in
            try connection.run(
                withText ? .openRejectsWithText : .openRejects,
                [
                    "app": .integer(app.rawValue),
                    "job": .text(job),
                    "after": .bigint(id),
                    "count": .bigint(Int64(count)),
                ]
            ).map { row in
                RejectedRow(
                    id: try row.int64("record_id"),
                    environment: try row.text("environment"),
                    stream: try row.text("stream"),
                    item: try row.text("item_key"),
                    reason: try row.text("reason"),
                    detail: try row.text("detail"),
                    firstSeenAt: try row.text("first_seen"),
                    lastSeenAt: try row.text("last_seen"),
                    seen: try row.int64("seen_count"),
                    sha256: withText ? try row.text("sha256") : nil,
                    raw: withText ? String(decoding: try row.bytes("raw"), as: UTF8.self) : nil
                )
            }
        }
    }

    /// Dismisses rejected records of a job: they are not counted any more, even if a run receives them again.
    ///
    /// A dismissal covers every stored text of the same record in every job of the app, because Apple signs a record again for
    /// each answer.
    ///
    /// - Parameter ids: The records; `nil` for all that count.
    /// - Returns: The number of texts that no longer count.
    /// - Throws: ``UnknownRejects``, and nothing is dismissed; ``Postgres/PostgresError``.
    package func dismiss(_ ids: [Int64]?, of job: String, app: AppID) async throws -> Int {
        try await transaction { connection in
            var open: Set<Int64> = []
            for row in try connection.run(
                """
                SELECT r.record_id FROM rejected_records r
                 WHERE r.app_id IN (\(Self.appsOfRejects()))
                   AND r.job = $2 AND r.resolved_at IS NULL AND r.dismissed_at IS NULL
                """,
                [.integer(app.rawValue), .text(job)]
            ) { open.insert(try row.int64("record_id")) }
            let missing = Set(ids ?? []).subtracting(open)
            guard missing.isEmpty else { throw UnknownRejects(ids: missing.sorted()) }
            let records: KeyValuePairs<String, Cell> = [
                "records": .textArray((ids ?? open.sorted()).map(String.init))
            ]
            _ = try connection.run(.dismissIdentities, records)
            return try connection.run(.dismissTexts, records).affected
        }
    }

    /// The part `apps_of_rejects.sql`, for a statement whose parameters have numbers: 1 app, 2 job.
    ///
    /// - Parameters:
    ///   - apps: The table of apps, or its masked view.
    ///   - runs: The table of runs, or its masked view.
    /// - Returns: A SELECT without an order.
    package static func appsOfRejects(apps: String = "apps", runs: String = "runs") -> String {
        let parts = ["app": "$1", "job": "$2", "apps": apps, "runs": runs]
        return SQLStatement(file: PackageResources.apps_of_rejects_sql, parts: parts.mapValues { Array($0.utf8) }).text
    }
}
