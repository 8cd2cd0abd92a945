import Postgres

extension LedgerBook {
    /// Compares the ledger with the store's list: a sentence for each record that is missing, different or surplus.
    ///
    /// Signing dates are not compared for records that Apple signs again in each answer.
    package func differences(from world: String) async throws -> [String] {
        try await with { connection in
            try connection.script(
                """
                DROP TABLE IF EXISTS pg_temp.world;
                CREATE TEMPORARY TABLE world (kind text, key text, payload jsonb, attempts jsonb);
                """
            )
            _ = try connection.run(
                """
                INSERT INTO world
                SELECT line ->> 'kind', line ->> 'key', line -> 'payload', line -> 'sendAttempts'
                  FROM (SELECT text::jsonb AS line FROM unnest(string_to_array($1, chr(10))) AS text WHERE text <> '') AS lines
                """,
                [.text(world)]
            )
            // Notifications and their renewals are limited to the period of the job.
            try connection.script(
                """
                DELETE FROM world USING (SELECT extract(epoch FROM min(window_start)) * 1000 AS ms FROM crawl_items) AS first
                 WHERE kind IN ('notification', 'renewal') AND (payload ->> 'signedDate')::bigint < first.ms
                """
            )
            try connection.script(Self.reading)
            return try connection.run(Self.comparison).map { try $0.text("sentence") }
        }
    }

    /// A notification's payload in the ledger, with the decoded content in place of its signed parts.
    private static let reading: String = {
        let parts = ["{data,signedTransactionInfo}", "{data,signedRenewalInfo}", "{appData,signedAppTransactionInfo}"]
        let encoded = "translate(split_part(payload #>> '%', '.', 2), '-_', '+/')"
        return parts.map { part in
            let text = encoded.replacing("%", with: part)
            return """
                UPDATE world SET payload = jsonb_set(payload, '\(part)',
                       convert_from(decode(rpad(\(text), (length(\(text)) + 3) / 4 * 4, '='), 'base64'), 'UTF8')::jsonb)
                 WHERE payload #> '\(part)' IS NOT NULL;
                """
        }.joined(separator: "\n")
    }()

    private static let comparison: String = {
        // A renewal is in all notifications of its subscription, each time signed together with the notification.
        let kinds = [
            ("transaction", "transactions", "transaction_id", "payload - 'signedDate'"),
            ("refund", "refunds", "transaction_id", "payload - 'signedDate'"),
            ("notification", "notifications", "notification_uuid", "payload"),
            ("renewal", "renewals", "original_transaction_id", "payload - 'signedDate'"),
        ]
        let records = kinds.map { kind, table, key, content in
            """
            SELECT '\(kind) ' || key || CASE WHEN t.payload IS NULL THEN ' is missing'
                   WHEN w.payload IS NULL THEN ' is in no world' ELSE ' is different' END AS sentence
              FROM (SELECT key, \(content) AS payload FROM world WHERE kind = '\(kind)') w
              FULL JOIN (SELECT \(key) AS key, \(content) AS payload FROM \(table)) t USING (key)
             WHERE w.payload IS DISTINCT FROM t.payload
            """
        }
        let attempts = """
            SELECT 'send attempt of ' || coalesce(w.key, a.notification_uuid) || ' differs' AS sentence
              FROM (SELECT key, (attempt ->> 'attemptDate')::bigint AS moment, attempt ->> 'sendAttemptResult' AS result
                      FROM world, jsonb_array_elements(attempts) AS attempt) w
              FULL JOIN notification_send_attempts a ON a.notification_uuid = w.key AND a.send_attempt_result = w.result
                   AND a.attempt_date = timestamptz 'epoch' + w.moment * interval '1 millisecond'
             WHERE w.key IS NULL OR a.notification_uuid IS NULL
            """
        return (records + [attempts]).joined(separator: "\nUNION ALL\n")
    }()
}
