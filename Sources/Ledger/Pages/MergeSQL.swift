import LedgerSchema
import Postgres
import Streams

/// The statements that merge rows into the ledger.
///
/// Names come from ``LedgerSchema/Tables``, never from input.
enum MergeSQL {
    /// Finds snapshots that are new, that may replace the ledger's row, or that have its content under a newer
    /// signature.
    ///
    /// A crawl of unchanged history runs only this query and writes no row. A plain upsert would rewrite every row (179
    /// MB of WAL for 200,000), and even `DO UPDATE … WHERE` would lock them. The result omits snapshots whose content
    /// and signature the ledger already has.
    ///
    /// SQL parameters: app; for transactions the listed transaction ID; the snapshots as ``SnapshotIdentities``.
    ///
    /// Result columns:
    ///
    /// - `place`: of the snapshot in the parameter, from 1.
    /// - `is_new`: whether the ledger lacks the record.
    /// - `may_win`: whether the snapshot is new or may replace the ledger's row.
    /// - `is_signed_again`: whether the snapshot has the ledger's content under a newer signature.
    /// - `held_sha256`: `payload_sha256` of the ledger's row.
    /// - `owns_rows`: in a replay, whether the snapshot is or becomes the ledger's row, and has or had rows in other
    ///   tables (child rows or field issues).
    /// - `lacks_listed_id`: for transactions, whether the ledger's row has this content but no listed ID.
    /// - `differs`: whether the ledger lacks this content.
    /// - `facts`: the known facts of the ledger's row; see ``facts(of:in:)``.
    ///
    /// - Parameters:
    ///   - table: One of ``LedgerSchema/Tables/snapshots``.
    ///   - mode: In a replay, a snapshot that the ledger already has may also win, if its hash differs.
    /// - Returns: The statement.
    static func triage(_ table: Table, mode: MergeMode) -> String {
        let differs = "s.content_hash IS DISTINCT FROM h.content_hash"
        let isNewer = "(\(rank("s", table))) > (\(rank("h", table, signedAgain: "l")))"
        var mayWin = "(\(differs) AND \(isNewer))"
        if mode.rewritesHeldSnapshots { mayWin = "(\(mayWin) OR s.payload_sha256 = h.payload_sha256 AND \(differs))" }
        let isSignedAgain =
            "(s.content_hash = h.content_hash AND s.signed_date > coalesce(l.signed_date, h.signed_date)) IS TRUE"
        let ownsRows =
            mode.rewritesHeldSnapshots
            ? "(h.app_id IS NULL OR h.payload_sha256 = s.payload_sha256) AND (\((["s.owns_rows"] + others(of: table)).joined(separator: " OR ")))"
            : "false"
        let hasListedID = table == Tables.transactions
        let lacksListedID =
            hasListedID
            ? "(s.content_hash = h.content_hash AND h.listed_transaction_id IS NULL AND $2::text IS NOT NULL) IS TRUE"
            : "false"
        return """
            SELECT s.ordinality AS place, h.app_id IS NULL AS is_new, h.app_id IS NULL OR \(mayWin) AS may_win,
                   \(isSignedAgain) AS is_signed_again, h.payload_sha256 AS held_sha256, \(ownsRows) AS owns_rows,
                   \(lacksListedID) AS lacks_listed_id, \(differs) AS differs,
                   \(facts(of: "h", in: table)) AS facts
              FROM \(Staging.from(hasListedID ? "$3" : "$2", of: SnapshotIdentities(of: table).table))
              LEFT JOIN \(held(in: table, by: [table.key[0]])) ON true
              LEFT JOIN LATERAL (\(latestSignature(of: "h", table)) OFFSET 0) l ON true
             WHERE h.app_id IS NULL OR \(differs) OR \(isSignedAgain) OR \(ownsRows) OR \(lacksListedID) OR s.adds_facts
            """
    }

    /// Inserts rows of new records, and skips those that another worker has inserted meanwhile.
    ///
    /// SQL parameters: the constants; the rows as ``Staging/hashed(_:)``. The result is the keys of the inserted rows.
    ///
    /// - Parameters:
    ///   - table: One of ``LedgerSchema/Tables/snapshots``.
    ///   - constants: Columns that have the same value in all rows, the app first.
    /// - Returns: The statement.
    static func insert(into table: Table, constants: [Column]) -> String {
        let staged = Staging.hashed(table)
        let names = constants.map(\.name) + staged.columns.map { "\"\($0.name)\"" }
        let values =
            constants.enumerated().map { "$\($0 + 1)::\($1.type.rawValue)" } + staged.columns.map { "s.\"\($0.name)\"" }
        return """
            INSERT INTO \(table.name) (\(names.joined(separator: ", ")))
            SELECT \(values.joined(separator: ", ")) FROM \(Staging.from("$\(constants.count + 1)", of: staged))
            ON CONFLICT (app_id, \(table.key[0])) DO NOTHING RETURNING \(table.key[0]) AS key
            """
    }

    /// Adds the listed ID to transactions that were first found through a notification.
    ///
    /// The last condition is written so that no index can answer it. At the last ANALYZE all transactions may have had a listed ID.
    /// Then the planner would expect to find few rows without one, and would read all of them for each page.
    ///
    /// SQL parameters: app, listed transaction ID, transaction IDs.
    static let fillListedID = """
        UPDATE transactions t SET listed_transaction_id = $2::text
         WHERE t.app_id = $1::integer AND t.transaction_id = ANY ($3::text[]) AND (t.listed_transaction_id IS NULL) IS TRUE
        """

    /// The columns of ``LedgerSchema/Table/facts`` that are not NULL, with commas between them.
    private static func facts(of row: String, in table: Table) -> String {
        let names = table.facts.map { ", CASE WHEN \(row).\($0.column) IS NOT NULL THEN '\($0.column)' END" }
        return names.isEmpty ? "''::text" : "concat_ws(','\(names.joined()))"
    }

    /// Gives rows the facts that their newest signature leaves out and another one has.
    ///
    /// SQL parameters: app, run, the rows as ``Staging/hashed(_:)``. Result columns: the key, and the facts afterwards.
    ///
    /// - Parameter table: One of ``LedgerSchema/Tables/snapshots`` with facts.
    /// - Returns: The statement.
    static func addFacts(_ table: Table) -> String {
        let key = table.key[0]
        let columns = table.facts.map(\.column)
        return """
            UPDATE \(table.name) t SET \(columns.map { "\($0) = coalesce(t.\($0), s.\($0))" }.joined(separator: ", ")),
                last_changed_at = greatest(now(), t.last_changed_at + interval '1 microsecond'), last_run_id = $2::bigint
              FROM \(Staging.from("$3", of: Staging.hashed(table)))
             WHERE t.app_id = $1::integer AND t.\(key) = s.\(key)
               AND (\(columns.map { "t.\($0) IS NULL AND s.\($0) IS NOT NULL" }.joined(separator: " OR ")))
            RETURNING t.\(key) AS key, \(facts(of: "t", in: table)) AS facts
            """
    }

    /// Inserts new rows and replaces older ones.
    ///
    /// Does not touch a row that the ledger already has in the same or a newer version. A replaced row keeps the facts that the
    /// newer signature leaves out. Keys are merged in order, so that two workers rarely deadlock; after a conflict, one of them
    /// repeats the batch.
    ///
    /// SQL parameters: app, run; for transactions source and listed transaction ID; the rows as ``Staging/hashed(_:)``.
    ///
    /// Result columns: the key, the known facts, and whether the row was inserted. An inserted row has equal `first_seen_at` and
    /// `last_changed_at`; an update makes `last_changed_at` later. `xmax` would distinguish the two as well, but cannot
    /// be returned from a partitioned table.
    ///
    /// - Parameters:
    ///   - table: One of ``LedgerSchema/Tables/snapshots``.
    ///   - mode: In a replay, a row that was made from the same payload and differs also replaces the ledger's row. So
    ///     a replay repairs a row whose dates were changed by hand.
    /// - Returns: The statement.
    static func newestWins(_ table: Table, mode: MergeMode) -> String {
        let key = table.key[0]
        let readColumns = table.columns.map(\.name)
        let columns = readColumns + [ContentHasher.column.name]
        let names = columns.map { "\"\($0)\"" }.joined(separator: ", ")
        let hasListedID = table == Tables.transactions
        let wins = { (new: String, held: String) in
            let isNewer = """
                (\(new).content_hash IS DISTINCT FROM \(held).content_hash AND (\(rank(new, table))) >
                 (SELECT \(rank(held, table, signedAgain: "l")) FROM (SELECT) one LEFT JOIN (\(latestSignature(of: held, table))) l ON true))
                """
            guard mode.rewritesHeldSnapshots else { return isNewer }
            let readings = [new, held].map { alias in readColumns.map { "\(alias).\"\($0)\"" }.joined(separator: ", ") }
            return
                "(\(isNewer) OR \(new).payload_sha256 = \(held).payload_sha256 AND ROW(\(readings[0])) IS DISTINCT FROM ROW(\(readings[1])))"
        }
        let fields = Dictionary(table.facts.map { ($0.column, $0.field) }, uniquingKeysWith: { first, _ in first })
        let replaced = { (column: String) in
            let new = "excluded.\"\(column)\""
            guard let field = fields[column] else { return "\"\(column)\" = \(new)" }
            var kept = "t.\"\(column)\""
            if mode.rewritesHeldSnapshots {
                // A value that the row's own payload lacks is an earlier signature's only if an issue says so.
                kept = """
                    CASE WHEN excluded.payload_sha256 <> t.payload_sha256 OR EXISTS (
                        SELECT FROM field_issues i WHERE i.app_id = t.app_id AND i.kind = '\(RecordKind.ofPayloads(in: table).rawValue)'
                           AND i.record_key = t.\(key) AND i.path = '\(field)' AND i.found = '\(FieldIssue.leftOut)') THEN \(kept) END
                    """
            }
            return "\"\(column)\" = coalesce(\(new), \(kept))"
        }
        return """
            INSERT INTO \(table.name) AS t (app_id, \(names), last_changed_at, last_run_id\(hasListedID ? ", source, listed_transaction_id" : ""))
            SELECT $1::integer, \(columns.map { "s.\"\($0)\"" }.joined(separator: ", ")), now(), $2::bigint\(hasListedID ? ", $3::text, $4::text" : "")
              FROM \(Staging.from(hasListedID ? "$5" : "$3", of: Staging.hashed(table)))
              LEFT JOIN \(held(in: table, by: [key])) ON true
             WHERE h.app_id IS NULL OR \(wins("s", "h"))
             ORDER BY s.\(key) COLLATE "C"
            ON CONFLICT (app_id, \(key)) DO UPDATE SET
                \(columns.filter { $0 != key }.map(replaced).joined(separator: ", ")),
                last_changed_at = greatest(excluded.last_changed_at, t.first_seen_at + interval '1 microsecond'),
                last_run_id = excluded.last_run_id\
            \(hasListedID ? ",\n    source = excluded.source, listed_transaction_id = coalesce(t.listed_transaction_id, excluded.listed_transaction_id)" : "")
             WHERE \(wins("excluded", "t"))
            RETURNING t.\(key) AS key, \(Self.facts(of: "t", in: table)) AS facts, t.last_changed_at = t.first_seen_at AS inserted
            """
    }

    /// Conditions that are true if the snapshot `s` has rows in other tables.
    private static func others(of table: Table) -> [String] {
        let key = table.key[0]
        var others: [String] = []
        guard let kind = RecordKind(of: table) else { return [] }
        if let owner = kind.ownerKind {
            others += kind.children.map { "\($0.name) o WHERE o.owner_kind = '\(owner)' AND o.owner_key = s.\(key)" }
        }
        others.append("field_issues o WHERE o.kind = '\(kind.rawValue)' AND o.record_key = s.\(key)")
        // Each condition is a subquery that the planner cannot turn into a join; see ``held(in:by:)``.
        return others.map { "EXISTS (SELECT FROM \($0) AND o.app_id = $1::integer OFFSET 0)" }
    }

    /// Locks the rows that still have the payload of one of the snapshots, until the transaction ends.
    ///
    /// SQL parameters: app, the snapshots as ``SnapshotIdentities``. The result is the keys of the locked rows, and their known
    /// facts.
    ///
    /// - Parameter table: One of ``LedgerSchema/Tables/snapshots``.
    /// - Returns: The statement.
    static func lockSnapshots(_ table: Table) -> String {
        let key = table.key[0]
        return """
            SELECT h.\(key) AS key, \(facts(of: "h", in: table)) AS facts FROM \(Staging.from("$2", of: SnapshotIdentities(of: table).table))
              JOIN \(table.name) h ON h.app_id = $1::integer AND h.\(key) = s.\(key) AND h.payload_sha256 = s.payload_sha256
             ORDER BY h.\(key) COLLATE "C" FOR NO KEY UPDATE OF h
            """
    }

    /// Asks whether one of the snapshots has child rows, as `found`.
    ///
    /// SQL parameters: app, the owners' keys, their kind.
    ///
    /// - Parameter tables: Of ``LedgerSchema/Tables/owned``.
    /// - Returns: The query.
    static func haveChildren(_ tables: [Table]) -> String {
        let children = tables.map { table in
            """
            EXISTS (SELECT FROM \(table.name) o
                     WHERE o.app_id = $1::integer AND o.owner_kind = $3::text AND o.owner_key = w.key OFFSET 0)
            """
        }
        return
            "SELECT EXISTS (SELECT FROM unnest($2::text[]) AS w (key) WHERE \(children.joined(separator: " OR "))) AS found"
    }

    /// Removes the child rows of snapshots.
    ///
    /// SQL parameters: app, the owners' keys, their kind.
    ///
    /// - Parameter table: One of ``LedgerSchema/Tables/owned``.
    /// - Returns: The statement.
    static func removeChildren(_ table: Table) -> String {
        KeyedRows.delete(from: table.name, by: "owner_key", "x.owner_kind = $3::text")
    }

    /// Looks up the row of a table, as `h`, for each row `s` by the primary key.
    ///
    /// `OFFSET 0` leaves the planner no other choice. With a plain join, a plan made while the table was small would
    /// keep reading all rows of the app for every page.
    ///
    /// - Parameters:
    ///   - table: The table of `h`.
    ///   - key: Columns with the same names in `h` and `s`.
    /// - Returns: A `LATERAL` subquery.
    private static func held(in table: Table, by key: [String]) -> String {
        let sameKey = key.map { "h.\($0) = s.\($0)" }.joined(separator: " AND ")
        return "LATERAL (SELECT h.* FROM \(table.name) h WHERE h.app_id = $1::integer AND \(sameKey) OFFSET 0) h"
    }

    /// The newest signature of a row's content; no row if Apple has not signed the content again.
    private static func latestSignature(of row: String, _ table: Table) -> String {
        """
        SELECT l.signed_date, l.payload_sha256 FROM latest_signatures l
         WHERE l.app_id = $1::integer AND l.kind = '\(RecordKind.ofPayloads(in: table).rawValue)' AND l.record_key = \(row).\(table.key[0])
           AND l.first_payload_sha256 = \(row).payload_sha256 AND l.signature IS NOT NULL
        """
    }

    /// The order of two snapshots of one record: the later signature wins, then a revoked one, then the greater hash.
    ///
    /// - Parameters:
    ///   - alias: A snapshot or the ledger's row.
    ///   - table: The table of both.
    ///   - signedAgain: The latest signature of the ledger's content, which may be NULL.
    /// - Returns: A list of expressions, the most important first. Compared as rows, the greater one wins.
    private static func rank(_ alias: String, _ table: Table, signedAgain: String? = nil) -> String {
        let revoked = table.columns.contains { $0.name == "revocation_date" }
        let latest = { (column: String) in
            signedAgain.map { "coalesce(\($0).\(column), \(alias).\(column))" } ?? "\(alias).\(column)"
        }
        return
            "\(latest("signed_date")), \(revoked ? "\(alias).revocation_date IS NOT NULL, " : "")\(latest("payload_sha256"))"
    }

    /// Inserts Apple's new delivery attempts and updates changed results.
    ///
    /// The time of reading is stored only while no attempt has succeeded. It is updated once: by the first reading
    /// after Apple's last attempt (``WindowReading/retryTime``). So reading a page again writes nothing. All attempts
    /// of a notification are on one page.
    ///
    /// SQL parameters: app, the time of reading, the rows.
    static let sendAttempts: String = {
        let table = Tables.notificationSendAttempts
        let final = "s.first_attempt_date + interval '\(WindowReading.retryTime.components.seconds) seconds'"
        return """
            INSERT INTO \(table.name) AS t (app_id, notification_uuid, attempt_date, send_attempt_result, read_at)
            SELECT $1::integer, s.notification_uuid, s.attempt_date, s.send_attempt_result,
                   CASE WHEN NOT s.is_delivered THEN $2::timestamptz END
              FROM (SELECT s.*, min(s.attempt_date) OVER attempts AS first_attempt_date,
                           coalesce(bool_or(s.send_attempt_result = 'SUCCESS') OVER attempts, false) AS is_delivered
                      FROM \(Staging.from("$3", of: table))
                    WINDOW attempts AS (PARTITION BY s.notification_uuid)) s
              LEFT JOIN \(held(in: table, by: table.key)) ON true
             WHERE h.app_id IS NULL OR h.send_attempt_result IS DISTINCT FROM s.send_attempt_result
                OR NOT s.is_delivered AND $2 >= \(final) AND coalesce(h.read_at < \(final), true)
             ORDER BY s.notification_uuid, s.attempt_date
            ON CONFLICT (app_id, notification_uuid, attempt_date)
            DO UPDATE SET send_attempt_result = excluded.send_attempt_result, read_at = greatest(t.read_at, excluded.read_at)
            """
    }()

    /// Finds payloads that the archive does not have, or has without the mark that refund history returned them.
    ///
    /// SQL parameters: app, the payloads as ``Staging/archiveIdentities``. Result columns: the place of each in the
    /// parameter, from 1, and whether the archive does not have it.
    static let archiveTriage = """
        SELECT s.ordinality AS place, h.app_id IS NULL AS is_new
          FROM \(Staging.from("$2", of: Staging.archiveIdentities))
          LEFT JOIN \(held(in: Staging.archive, by: Staging.archive.key)) ON true
         WHERE h.app_id IS NULL OR s.is_refund AND NOT h.is_refund
        """

    /// Inserts payloads, and skips those that another worker has inserted meanwhile.
    ///
    /// SQL parameters: app, the rows as ``Staging/archive``.
    static let newArchive: String = {
        let names = Staging.archive.columns.map(\.name)
        return """
            INSERT INTO signed_payloads (app_id, \(names.joined(separator: ", ")))
            SELECT $1::integer, \(names.map { "s.\($0)" }.joined(separator: ", "))
              FROM \(Staging.from("$2", of: Staging.archive))
            ON CONFLICT (app_id, \(Staging.archive.key.joined(separator: ", "))) DO NOTHING
            """
    }()

    /// Stores every distinct payload once.
    ///
    /// Existing payloads are neither updated nor locked, unless refund history now returned them for the first time.
    ///
    /// SQL parameters: app, the rows as ``Staging/archive``.
    static let archive = """
        INSERT INTO signed_payloads AS p
            (app_id, kind, record_key, signed_date, payload_sha256, header_id, payload, signature, is_refund)
        SELECT $1::integer, s.kind, s.record_key, s.signed_date, s.payload_sha256, s.header_id, s.payload, s.signature, s.is_refund
          FROM \(Staging.from("$2", of: Staging.archive))
          LEFT JOIN \(held(in: Staging.archive, by: Staging.archive.key)) ON true
         WHERE h.app_id IS NULL OR s.is_refund AND NOT h.is_refund
         ORDER BY s.kind COLLATE "C", s.record_key COLLATE "C", s.signed_date, s.payload_sha256
        ON CONFLICT (app_id, kind, record_key, signed_date, payload_sha256)
        DO UPDATE SET is_refund = true WHERE excluded.is_refund AND NOT p.is_refund
        """
}
