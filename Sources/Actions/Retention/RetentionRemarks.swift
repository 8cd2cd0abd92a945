import ActionKinds
import Ledger
import LedgerSchema
import Postgres

extension ActionLedger {
    /// The difference between a folder and what Apple has, as sentences.
    ///
    /// They tell the rows of each kind, the defaults that change, and what the folder does not name, which is not deleted.
    package func remarks(
        on batch: ActionBatch,
        _ folder: RetentionFolder,
        _ catalog: RetentionCatalog
    ) async throws -> [String] {
        let (app, id) = (app, batch.id)
        return try await ledger.transaction(.readOnlySnapshot) { connection in
            let key: [Cell] = [.integer(app.rawValue), .uuid(id)]
            let counts = try connection.run(
                """
                SELECT input[1] AS kind, count(*) FILTER (WHERE verdict = 'valid') AS to_send, count(*) FILTER (WHERE verdict = 'same') AS same,
                       count(*) FILTER (WHERE verdict NOT IN ('valid', 'same')) AS others
                  FROM action_rows WHERE app_id = $1 AND batch_id = $2 GROUP BY 1 ORDER BY min(position)
                """,
                key
            ).map { row in
                "\(try row.text("kind")): \(try row.int64("to_send")) to send, \(try row.int64("same")) at Apple, \(try row.int64("others")) not to send"
            }
            let changes = try connection.run(
                """
                SELECT subject, answer ->> 'before' AS before, parameters ->> 'message_id' AS message FROM action_rows
                 WHERE app_id = $1 AND batch_id = $2 AND verdict = 'valid' AND answer ? 'before' ORDER BY position
                """,
                key
            ).map { row in
                "\(try row.text("subject")): \(try row.text("before")) becomes \(try row.text("message"))"
            }
            let named = Set(
                try connection.run(
                    "SELECT subject FROM action_rows WHERE app_id = $1 AND batch_id = $2 AND subject IS NOT NULL",
                    key
                ).map { try $0.text("subject") } + folder.namedMessages
            )
            return counts + changes + catalog.remarks(without: named)
        }
    }
}

extension RetentionFolder {
    /// The subjects of the messages that `defaults.csv` names.
    fileprivate var namedMessages: [String] {
        defaults.compactMap { $0["message_id"].map { PublishRetentionMessages.subject(ofMessage: $0.lowercased()) } }
    }
}

extension RetentionCatalog {
    /// What Apple has and the folder does not name, one sentence each.
    fileprivate func remarks(without named: Set<String>) -> [String] {
        let all =
            images.map { (PublishRetentionMessages.subject(ofImage: $0), $1.state) }
            + messages.map { (PublishRetentionMessages.subject(ofMessage: $0), $1.state) }
        return all.filter { !named.contains($0.0) }.sorted { $0.0 < $1.0 }
            .map { "\($0.0) (\($0.1)) is at Apple and not in the folder; it stays" }
    }
}
