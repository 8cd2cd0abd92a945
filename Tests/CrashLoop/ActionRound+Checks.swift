import FoundationEssentials
import Postgres
import TestSupport

/// The promises of actions:
///
/// - A1: the four result files have every row of the input exactly once.
/// - A2: a request that reached the store was recorded before, with its ID.
/// - A3: no request changed the world twice, and no row was sent under two IDs.
/// - A4: what `succeeded.csv` has is true in the store's world.
/// - A5: what `rejected.csv` has, and what was not applied, did not change the world.
/// - A6: only the process that has leased a row changes it, and an outcome stays (triggers).
/// - A7: no request without a grant.
/// - A8: a batch comes to its end.
/// - A11: no row is sent for the first time after its approval has ended (triggers), and a row that is cancelled changed nothing.
/// - A12: a refund request has one answer.
/// - A10: nothing names an erased customer, and no request is sent for a row of one.
/// - A9: SIGTERM ends a process in time, and it gives its rows back.
extension ActionRound {
    /// Equal requests that changed the store's world, or repeated one that did.
    private struct Applied: Decodable, Sendable {
        struct Body: Decodable { let appAccountToken, refundPreference: String? }
        let endpoint: String
        let transactionId: String?
        let requestIdentifier: String?
        let body: Body?
        let applied: Int
    }

    /// Checks the promises that must be true at every moment.
    mutating func checkLive() async throws {
        let book = book
        // What reached the store is read before the ledger, and what the ledger says is compared with what is true afterwards.
        let reached = try await store.actions(as: Applied.self)
        let arrivals = try await store.requests().arrivals
        let (grants, broken) = try await patiently {
            (try await AuditTrail.grants(in: book), try await AuditTrail.broken(in: book))
        }
        var sentences =
            broken.map { $0.hasPrefix("A") ? $0 : "A6: \($0)" }
            + AuditTrail.overspent(arrivals, grants).map { "A7: \($0)" }
        sentences += try await unrecorded(reached)
        sentences += appliedTwice(reached) + answeredTwice(reached)
        let batch = try current
        try await succeed(["actions", "results", batch.path, "--directory", store.directory + "/live"])
        sentences += try missingRows(in: "live", of: batch)
        sentences += try untrue(
            before: reached,
            after: try await store.actions(as: Applied.self),
            in: "live",
            of: batch
        )
        try BrokenInvariant.check(sentences)
    }

    /// A3: what a batch has changed more than once.
    ///
    /// Two requests with different IDs are two entries, so the changes are also counted for each batch that could make one.
    private func appliedTwice(_ reached: [Applied]) -> [String] {
        let withID = reached.filter { $0.requestIdentifier != nil && $0.applied > 0 }
        let ids = Dictionary(withID.map { ($0.requestIdentifier ?? "", $0.applied) }, uniquingKeysWith: +)
        let subjects = Dictionary(
            withID.map { ("\($0.endpoint) \($0.transactionId ?? "")", $0.applied) },
            uniquingKeysWith: +
        )
        return ids.filter { $0.value > 1 }.map { "A3: \($0.key) has changed the world \($0.value) times" }
            + subjects.filter { subject in
                let endpoint = subject.key.prefix { $0 != " " }
                return subject.value > batches.count { $0.action.endpoint == endpoint }
            }.map { "A3: \($0.key) was changed \($0.value) times" }
    }

    /// A12: the purchases about which the store received two different decisions; a round has one refund request for
    /// each.
    private func answeredTwice(_ reached: [Applied]) -> [String] {
        let told = reached.filter { $0.endpoint == "sendConsumptionInformation" }
        return Dictionary(grouping: told) { $0.transactionId ?? "" }
            .filter { Set($0.value.map { $0.body?.refundPreference ?? "none" }).count > 1 }
            .map { "A12: the refund request of \($0.key) has \($0.value.count) different answers" }
    }

    /// A2: each request in the store has the ID of a row with this subscription, or is of a row that was sent.
    private func unrecorded(_ reached: [Applied]) async throws -> [String] {
        let book = book
        let rows = try await patiently {
            try await book.column(
                """
                SELECT action || ' ' || subject || CASE WHEN action IN ('setAppAccountToken', 'finishTransaction', 'sendConsumptionInformation') THEN '' ELSE ' ' || request_id END
                  FROM action_rows JOIN action_batches USING (app_id, batch_id) WHERE request_id IS NOT NULL
                """
            )
        }
        let recorded = Set(rows)
        // An erasure has removed the IDs from the ledger.
        return reached.filter { !erased.contains($0.transactionId ?? "") }.compactMap { request in
            let row = [request.endpoint, request.transactionId, request.requestIdentifier].compactMap(\.self)
                .joined(separator: " ")
            return recorded.contains(row) ? nil : "A2: \(row) was sent, and is not in the ledger"
        }
    }

    /// A1: the rows that are in no file or in several.
    func missingRows(in directory: String, of batch: ActionBatchJob) throws -> [String] {
        var times: [Int: Int] = [:]
        for file in Self.files {
            for row in try rows(of: file, in: directory) {
                times[row["outcome_position"].flatMap { Int($0) } ?? 0, default: 0] += 1
            }
        }
        guard times.keys.sorted() == Array(1...batch.rows), times.values.allSatisfy({ $0 == 1 }) else {
            let wrong = (0...batch.rows).filter { times[$0, default: 0] != ($0 == 0 ? 0 : 1) }
            return [
                "A1: the files in \(directory) have \(times.count) of \(batch.rows) rows; wrong are \(wrong.prefix(20))"
            ]
        }
        return []
    }

    private static let files = ["succeeded", "rejected", "unprocessed", "unknown"]

    private func rows(of file: String, in directory: String) throws -> [[String: String]] {
        let bytes = try Data(contentsOf: URL(filePath: "\(store.directory)/\(directory)/\(file).csv"))
        let records = try CSVText(Array(bytes)).records
        let header = (records.first ?? []).map { $0 ?? "" }
        return records.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(header, $0.map { $0 ?? "" })) }
    }

    /// A4, A5: the rows whose outcome is not true in the world, as it was before and after the files were written.
    private func untrue(
        before: [Applied],
        after: [Applied],
        in directory: String,
        of batch: ActionBatchJob
    ) throws -> [String] {
        func isApplied(_ row: [String: String], in world: [Applied]) -> Bool {
            world.contains { request in
                guard request.endpoint == batch.action.endpoint else { return false }
                switch batch.action {
                case .extend, .commerce:
                    return request.applied > 0 && request.requestIdentifier == row["outcome_request_id"]
                case .setToken(let prefix):
                    return request.transactionId == row["original_transaction_id"]
                        && request.body?.appAccountToken == prefix + (request.transactionId?.suffix(12) ?? "")
                // A transaction that was finished before is not changed.
                case .finish: return request.transactionId == row["transaction_id"]
                case .answer(let preference):
                    return request.transactionId == row["transaction_id"]
                        && request.body?.refundPreference == preference
                }
            }
        }
        let succeeded = try rows(of: "succeeded", in: directory).filter { row in
            // An erasure has removed what would identify the request.
            batch.action.hasRequestID || row["original_transaction_id"] != "" && row["transaction_id"] != ""
        }
        var sentences = succeeded.filter { !isApplied($0, in: after) }.map {
            "A4: \($0["outcome_request_id"] ?? "") succeeded in \(batch.name), but has changed nothing"
        }
        if case .finish = batch.action { return sentences }
        sentences += try rows(of: "unprocessed", in: directory).filter {
            $0["outcome"] == "cancelled" && isApplied($0, in: after)
        }.map {
            "A11: row \($0["outcome_position"] ?? "") of \(batch.name) is cancelled, but was applied"
        }
        guard batch.action.hasRequestID else { return sentences }
        // A row that is still approved can be sent meanwhile.
        let refused = try (rows(of: "rejected", in: directory) + rows(of: "unprocessed", in: directory)).filter {
            isApplied($0, in: $0["outcome"] == "approved" ? before : after)
        }
        sentences += refused.map {
            "A5: \($0["outcome_request_id"] ?? "") is \($0["outcome"] ?? "") in \(batch.name), but was applied"
        }
        return sentences
    }

    /// Checks the promises that must be true when every batch has been sent.
    mutating func checkEnd() async throws {
        let book = book
        var sentences = try await patiently {
            try await book.column(
                """
                SELECT format('A8: row %s of %s is %s', r.position, b.job, r.state) FROM action_rows r JOIN action_batches b USING (app_id, batch_id)
                 WHERE b.approved_at IS NOT NULL AND r.state NOT IN ('succeeded', 'rejected', 'not_applied', 'skipped')
                   AND NOT (r.state = 'cancelled' AND b.approval_ended_at IS NOT NULL)
                   AND r.parameters IS NOT NULL
                UNION ALL
                SELECT format('A8: %s is not finished', job) FROM action_batches WHERE approved_at IS NOT NULL AND finished_at IS NULL
                UNION ALL
                SELECT format('A3: row %s of %s was sent as %s requests', r.position, b.job, count(DISTINCT a.request_sha256))
                  FROM action_rows r JOIN action_batches b USING (app_id, batch_id)
                  JOIN action_attempts a USING (app_id, batch_id, position)
                 WHERE a.purpose IN ('send', 'repeat') GROUP BY r.position, b.job HAVING count(DISTINCT a.request_sha256) > 1
                """
            )
        }
        // What the store refuses each time is rejected, unless a kill has left open whether it was applied. What the store never
        // applies is known as not applied.
        for batch in batches {
            guard batch.action.hasRequestID, !endedJobs.contains(batch.name) else { continue }
            let states = try await book.column(
                """
                SELECT state FROM action_rows JOIN action_batches USING (app_id, batch_id)
                 WHERE job = '\(batch.name)' AND verdict = 'valid' ORDER BY position LIMIT 2
                """
            )
            if ![["rejected", "not_applied"], ["not_applied", "not_applied"]].contains(states) {
                sentences.append("A5: the rows that the store refuses in \(batch.name) are \(states)")
            }
        }
        let leftovers = Leftovers(
            book: book,
            workers: workers,
            directory: store.directory + "/out",
            secrets: secrets,
            postgresWasKilled: postgresWasKilled
        )
        sentences += try await namedAfterErasure()
        sentences += try await leftovers.leaks() + leftovers.toldSecrets()
        try BrokenInvariant.check(sentences)
    }
}
