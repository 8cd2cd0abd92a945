import AppStoreModel
import LedgerSchema
import Postgres
import StrictJSON

extension RecordWriter {
    /// Stores what Apple answered without signing it; the newest answer wins.
    ///
    /// An equal answer changes only `asked_at`. Keys are written in order, so that two workers do not deadlock.
    ///
    /// - Parameters:
    ///   - answers: At most one for each key.
    ///   - connection: Inside the transaction that stores the signed records of the same answers.
    /// - Returns: The changes. An answer is one record, because views that show answers are stale after a change.
    /// - Throws: ``Postgres/PostgresError``; the transaction has then failed.
    func writeAnswers(_ answers: [Answer], on connection: borrowing PostgresConnection) throws -> RowCounts {
        var counts = RowCounts()
        guard !answers.isEmpty else { return counts }
        guard let readAt = origin.readAt else {
            throw LedgerError.invariant("\(origin.stream.rawValue): an unsigned answer without the time of its request")
        }
        for table in [Tables.subscriptionStatuses, Tables.orders] {
            let answers = answers.filter { $0.table == table }
            guard !answers.isEmpty else { continue }
            let stored = try connection.run(
                AnswerSQL.newestWins(table),
                [.integer(origin.app.rawValue), .timestamp(readAt.rawValue), .bigint(origin.runNumber)],
                rows: Staging.rows(answers.map(\.row), of: table)
            )
            counts.new += try stored.count { try $0.bool("is_new") }
            counts.updated += try stored.count { try $0.bool("is_changed") }
            let keys = Set(try stored.map { ExactText(try $0.text("key")) })
            guard table == Tables.orders, !keys.isEmpty else { continue }
            try replaceTransactions(of: keys, by: answers.flatMap(\.children).flatMap(\.rows), on: connection)
        }
        counts.unchanged = answers.count - counts.new - counts.updated
        return counts
    }

    private func replaceTransactions(
        of orders: Set<ExactText>,
        by rows: [Row],
        on connection: borrowing PostgresConnection
    ) throws {
        let rows = rows.filter { row in
            guard case .text(let order) = row[0] else { return false }
            return orders.contains(ExactText(order))
        }
        let app = Cell.integer(origin.app.rawValue)
        let keys = Cell.textArray(orders.map(\.text).sorted())
        guard !rows.isEmpty else {
            _ = try connection.run(
                "DELETE FROM order_transactions WHERE app_id = $1 AND order_id = ANY ($2::text[])",
                [app, keys]
            )
            return
        }
        let staged = Staging.rows(rows, of: Tables.orderTransactions)
        _ = try connection.run(AnswerSQL.removeOtherTransactions, [app, keys], rows: staged)
        _ = try connection.run(AnswerSQL.addTransactions, [app], rows: staged)
    }
}

/// The statements of ``RecordWriter/writeAnswers(_:on:)``.
private enum AnswerSQL {
    /// Inserts answers, and replaces older ones.
    ///
    /// Parameters: app, the time of the answer, run, the rows. Columns, for each stored answer: its key, whether the key is new,
    /// and whether the answer differs from the one it replaced. `last_changed_at` is the transaction's time only then.
    static func newestWins(_ table: Table) -> String {
        let names = table.columns.map(\.name)
        let key = table.key[0]
        let rest = names.filter { $0 != key }
        let row = { (alias: String) in "ROW(\(rest.map { "\(alias).\($0)" }.joined(separator: ", ")))" }
        return """
            INSERT INTO \(table.name) AS t (app_id, \(names.joined(separator: ", ")), asked_at, last_run_id)
            SELECT $1::integer, \(names.map { "s.\($0)" }.joined(separator: ", ")), $2::timestamptz, $3::bigint
              FROM \(Staging.from("$4", of: table))
             ORDER BY s.\(key) COLLATE "C"
            ON CONFLICT (app_id, \(key)) DO UPDATE SET
                \(rest.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")),
                asked_at = excluded.asked_at, last_run_id = excluded.last_run_id,
                last_changed_at = CASE WHEN \(row("t")) IS DISTINCT FROM \(row("excluded")) THEN now() ELSE t.last_changed_at END
             WHERE excluded.asked_at >= t.asked_at
            RETURNING t.\(key) AS key, (t.xmax = 0) AS is_new, (t.xmax <> 0 AND t.last_changed_at = now()) AS is_changed
            """
    }

    /// Parameters: app, the orders, their transactions as rows of `order_transactions`.
    static let removeOtherTransactions = """
        DELETE FROM order_transactions t
         WHERE t.app_id = $1 AND t.order_id = ANY ($2::text[])
           AND NOT EXISTS (SELECT FROM \(Staging.from("$3", of: Tables.orderTransactions))
                            WHERE s.order_id = t.order_id AND s.transaction_id = t.transaction_id)
        """

    /// Parameters: app, the rows.
    static let addTransactions = """
        INSERT INTO order_transactions (app_id, order_id, transaction_id)
        SELECT $1::integer, s.order_id, s.transaction_id FROM \(Staging.from("$2", of: Tables.orderTransactions))
         ORDER BY s.order_id, s.transaction_id
        ON CONFLICT DO NOTHING
        """
}
