import AppStoreModel
import Basics
import Hashing
import LedgerSchema
import Postgres
import StrictJSON

extension RecordWriter {
    /// Stores what Apple answered without signing it; the newest answer wins.
    ///
    /// An equal answer changes only `asked_at`. Kinds are written in the order of ``LedgerSchema/AnswerKind/all`` and keys in
    /// order, so that two workers do not deadlock.
    ///
    /// - Parameters:
    ///   - answers: At most one for each key of a kind.
    ///   - connection: Inside the transaction that stores the signed records of the same answers.
    /// - Returns: The changes. An answer is one record, because views that show answers are stale after a change.
    /// - Throws: ``Postgres/PostgresError``; the transaction has then failed. ``LedgerError/invariant(_:)`` for an answer
    ///   without the time of its request, or of a kind that is not registered.
    func writeAnswers(_ answers: [Answer], on connection: borrowing PostgresConnection) throws -> RowCounts {
        var counts = RowCounts()
        guard !answers.isEmpty else { return counts }
        guard let readAt = origin.readAt else {
            throw LedgerError.invariant("\(origin.stream.rawValue): an unsigned answer without the time of its request")
        }
        if let other = answers.first(where: { !AnswerKind.all.contains($0.kind) }) {
            let name = other.kind.table.name
            throw LedgerError.invariant("\(origin.stream.rawValue): \(name) is not a registered kind of answer")
        }
        for kind in AnswerKind.all {
            let answers = answers.filter { $0.kind == kind }
            guard !answers.isEmpty else { continue }
            let stored = try connection.run(
                AnswerSQL.newestWins(kind),
                [.integer(origin.app.rawValue), .timestamp(readAt.rawValue), .bigint(origin.runNumber)],
                rows: Staging.rows(answers.map(\.row), of: kind.table)
            )
            counts.new += try stored.count { try $0.bool("is_new") }
            counts.updated += try stored.count { try $0.bool("is_changed") }
            let keys = Set(try stored.map { ExactText(try $0.text("key")) })
            guard !keys.isEmpty else { continue }
            try resolveRejects(of: answers.filter { $0.hasKey(in: keys) }, on: connection)
            for child in kind.children {
                let rows = answers.flatMap { answer -> [Row] in
                    guard answer.hasKey(in: keys) else { return [] }
                    return answer.children.filter { $0.table == child }.flatMap(\.rows)
                }
                try replace(child, of: kind, keys, by: rows, on: connection)
            }
        }
        counts.unchanged = answers.count - counts.new - counts.updated
        return counts
    }

    /// Ends the stored statuses of the listed customer that Apple's answer no longer has, although it has every subscription with
    /// such a status.
    ///
    /// A customer's subscriptions are those whose transactions were found under the listed ID. An answer with a rejected
    /// record ends nothing, because the record may be the missing subscription.
    ///
    /// - Returns: The number of ended statuses.
    func endUnlistedStatuses(_ rows: PageRows, on connection: borrowing PostgresConnection) throws(PostgresError) -> Int
    {
        guard let statuses = origin.listedStatuses, let listed = origin.listedTransactionID, let readAt = origin.readAt,
            rows.rejected.isEmpty
        else { return 0 }
        let answered = rows.answers.compactMap { answer -> String? in
            guard answer.kind == .subscriptionStatus, case .text(let id)? = answer.key else { return nil }
            return id
        }
        return try connection.run(
            .endUnlistedStatuses,
            [
                "app": .integer(origin.app.rawValue), "asked_at": .timestamp(readAt.rawValue),
                "run": .bigint(origin.runNumber), "listed_id": .text(listed), "answered": .textArray(answered),
                "statuses": .textArray(statuses.map(String.init)),
            ]
        ).affected
    }

    /// Resolves the rejects of earlier answers with the same keys.
    private func resolveRejects(of answers: [Answer], on connection: borrowing PostgresConnection) throws(PostgresError)
    {
        let identities = answers.compactMap(\.rejectIdentity)
        guard !identities.isEmpty else { return }
        _ = try connection.run(
            .resolveRejectedAnswers,
            [
                "app": .integer(origin.app.rawValue), "job": .text(origin.job), "stream": .text(origin.stream.rawValue),
                "hashes": .textArray(identities.map(\.hexadecimal).sorted()),
            ]
        )
    }

    /// Replaces the child rows of stored answers, and leaves equal rows as they are.
    private func replace(
        _ child: Table,
        of kind: AnswerKind,
        _ answers: Set<ExactText>,
        by rows: [Row],
        on connection: borrowing PostgresConnection
    ) throws {
        let app = Cell.integer(origin.app.rawValue)
        let keys = Cell.textArray(answers.map(\.text).sorted())
        guard !rows.isEmpty else {
            _ = try connection.run(AnswerSQL.removeAll(child, of: kind), [app, keys])
            return
        }
        let staged = Staging.rows(rows, of: child)
        _ = try connection.run(AnswerSQL.removeOthers(child, of: kind), [app, keys], rows: staged)
        _ = try connection.run(AnswerSQL.add(child), [app], rows: staged)
    }
}

extension Answer {
    fileprivate func hasKey(in keys: Set<ExactText>) -> Bool {
        guard case .text(let text)? = key else { return false }
        return keys.contains(ExactText(text))
    }
}

/// The statements of ``RecordWriter/writeAnswers(_:on:)``.
private enum AnswerSQL {
    /// Inserts answers, and replaces older ones.
    ///
    /// Parameters: app, the time of the answer, run, the rows. Columns, for each stored answer: its key, whether the key is new,
    /// and whether the answer differs from the one it replaced. Only then `last_changed_at` is the transaction's time and later
    /// than `first_seen_at`.
    static func newestWins(_ kind: AnswerKind) -> String {
        let names = kind.table.columns.map(\.name)
        let rest = names.filter { !kind.table.key.contains($0) }
        // A row whose columns are all of the key never differs.
        let set = rest.map { "\($0) = excluded.\($0), " }.joined()
        let compared = rest.filter { !kind.volatile.contains($0) }
        let change = "greatest(now(), t.first_seen_at + interval '1 microsecond')"
        let row = { (alias: String) in
            "ROW(\((["true"] + compared.map { "\(alias).\($0)" }).joined(separator: ", ")))"
        }
        return """
            INSERT INTO \(kind.table.name) AS t (app_id, \(names.joined(separator: ", ")), asked_at, last_run_id)
            SELECT $1::integer, \(names.map { "s.\($0)" }.joined(separator: ", ")), $2::timestamptz, $3::bigint
              FROM \(Staging.from("$4", of: kind.table))
             ORDER BY \(kind.table.key.map { "s.\($0) COLLATE \"C\"" }.joined(separator: ", "))
            ON CONFLICT (app_id, \(kind.table.key.joined(separator: ", "))) DO UPDATE SET
                \(set)asked_at = excluded.asked_at, last_run_id = excluded.last_run_id,
                last_changed_at = CASE WHEN \(row("t")) IS DISTINCT FROM \(row("excluded")) THEN \(change) ELSE t.last_changed_at END
             WHERE excluded.asked_at >= t.asked_at
            RETURNING t.\(kind.key) AS key, (t.first_seen_at = now() AND t.last_changed_at = t.first_seen_at) AS is_new,
                      (t.last_changed_at = \(change)) AS is_changed
            """
    }

    /// Parameters: app, the keys of the answers.
    static func removeAll(_ child: Table, of kind: AnswerKind) -> String {
        "DELETE FROM \(child.name) t WHERE t.app_id = $1 AND t.\(kind.key) = ANY ($2::text[])"
    }

    /// Parameters: app, the keys of the answers, their child rows.
    static func removeOthers(_ child: Table, of kind: AnswerKind) -> String {
        let isEqual = child.columns.map { column in
            "s.\(column.name) \(child.key.contains(column.name) ? "=" : "IS NOT DISTINCT FROM") t.\(column.name)"
        }
        return """
            \(removeAll(child, of: kind))
               AND NOT EXISTS (SELECT FROM \(Staging.from("$3", of: child)) WHERE \(isEqual.joined(separator: " AND ")))
            """
    }

    /// Parameters: app, the rows.
    static func add(_ child: Table) -> String {
        let names = child.columns.map(\.name)
        return """
            INSERT INTO \(child.name) (app_id, \(names.joined(separator: ", ")))
            SELECT $1::integer, \(names.map { "s.\($0)" }.joined(separator: ", ")) FROM \(Staging.from("$2", of: child))
             ORDER BY \(child.key.map { "s.\($0)" }.joined(separator: ", "))
            ON CONFLICT DO NOTHING
            """
    }
}
