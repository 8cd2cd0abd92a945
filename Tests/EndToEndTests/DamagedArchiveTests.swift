import TestSupport
import Testing

/// Replays of an archive that was changed by hand.
@Suite(.migratedDatabase)
struct DamagedArchiveTests {
    /// A change of one archived record, and the word its rejection is filed under.
    private struct Damage {
        var kind = "transaction"
        let change: String
        let reason: String
    }

    private static let damages = [
        Damage(
            kind: "notification",
            change: "signature = set_byte(signature, 0, get_byte(signature, 0) # 1)",
            reason: "signature"
        ),
        Damage(change: "payload = set_byte(payload, 20, get_byte(payload, 20) # 1)", reason: "signature"),
        Damage(change: "payload = payload || ' '::bytea", reason: "signature"),
        Damage(change: "payload = ''", reason: "format"),
        Damage(change: "payload = payload || convert_to(repeat(' ', 50000), 'UTF8')", reason: "size"),
        Damage(change: "signature = set_byte(signature, 63, get_byte(signature, 63) # 1)", reason: "signature"),
        Damage(change: "signature = substring(signature FOR 63)", reason: "sig_len"),
        Damage(change: "signature = ''", reason: "sig_len"),
        Damage(change: header("left(header, -1)"), reason: "base64"),
        Damage(change: header("header || '.e30'"), reason: "format"),
        Damage(change: header("' ' || header"), reason: "format"),
        Damage(change: header("''"), reason: "format"),
        Damage(change: header("'eyJhbGciOiJFUzI1NiJ9'"), reason: "header"),
    ]

    /// Gives the record another header, made from the first that the archive has.
    private static func header(_ text: String) -> String {
        """
        header_id = (SELECT h.header_id FROM signing_headers h WHERE h.header = (
            SELECT \(text) FROM signing_headers ORDER BY header_id LIMIT 1
        ))
        """
    }

    /// Every archived record as one text, with the headers back that a notification quotes.
    private static let texts = """
        SELECT kind, convert_to(
                   r.header || '.' || translate(encode(decode(whole, 'hex'), 'base64'), E'+/=\\n', '-_')
                       || '.' || translate(encode(signature, 'base64'), E'+/=\\n', '-_'), 'UTF8'
               ) AS text
          FROM (SELECT * FROM signing_headers ORDER BY header_id LIMIT 1) h
          JOIN (signed_payloads JOIN signing_headers USING (app_id, header_id)) r USING (app_id),
               replace(
                   encode(payload, 'hex'), encode('\\x00' || int4send(h.header_id), 'hex'),
                   encode(convert_to(h.header, 'UTF8'), 'hex')
               ) AS whole
        """

    @Test func `a record that was changed in the archive is rejected by a replay, and filed as the text it would be`()
        async throws
    {
        try await Stage.with { stage in
            let path = try await stage.migrated(stage.job)
            try await stage.run(path)
            let book = try stage.book()
            let tables = LedgerBook.dataTables.filter { $0 != "rejected_records" && !$0.hasPrefix("advanced_commerce") }
            try await book.change(
                """
                INSERT INTO signing_headers (app_id, header_sha256, header)
                SELECT app_id, sha256(convert_to(bad, 'UTF8')), bad
                  FROM (SELECT * FROM signing_headers ORDER BY header_id LIMIT 1) h,
                       unnest(ARRAY[left(header, -1), header || '.e30', ' ' || header, '', 'eyJhbGciOiJFUzI1NiJ9']) AS bad
                """
            )
            for (place, damage) in Self.damages.enumerated() {
                let changed = try await book.change(
                    """
                    UPDATE signed_payloads SET \(damage.change) WHERE (record_key, payload_sha256) = (
                        SELECT record_key, payload_sha256 FROM signed_payloads
                         WHERE kind = '\(damage.kind)' AND NOT is_refund
                         ORDER BY record_key, payload_sha256 OFFSET \(place) LIMIT 1
                    )
                    """
                )
                #expect(changed == 1, "\(damage)")
            }
            let versions = try await book.versions(of: tables)
            let records = try await book.count(
                "SELECT count(*) FROM signed_payloads"
            )

            let replay = try await stage.storeledger("replay", path)

            #expect(replay.code == 2, "\(replay.errors)")
            #expect(replay.output.hasPrefix("\(records) payloads: 0 new, 0 updated, "), "\(replay.output)")
            #expect(replay.output.hasSuffix(", \(Self.damages.count) rejected\n"), "\(replay.output)")
            let rejected = try await book.column("SELECT reason FROM rejected_records ORDER BY reason")
            #expect(rejected == Self.damages.map(\.reason).sorted())
            let untold = try await book.column(
                """
                WITH texts AS (\(Self.texts))
                SELECT reason || ': ' || detail FROM rejected_records r WHERE NOT EXISTS (
                    SELECT FROM texts WHERE sha256(text) = r.sha256 AND substring(text FOR 262144) = r.raw
                       AND kind || 'History' = r.stream
                )
                """
            )
            #expect(untold == [])
            #expect(try await book.versions(of: tables).symmetricDifference(versions).isEmpty)
        }
    }
}
