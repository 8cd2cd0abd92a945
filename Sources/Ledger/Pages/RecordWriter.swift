import AppStoreModel
import LedgerTables
import Postgres
import Workers

/// How many records of a batch were new, newer, or known already.
package struct RowCounts: Equatable, Sendable {
    package var new = 0
    package var updated = 0
    package var unchanged = 0
    /// Records of erased customers, which are not stored.
    package var withheld = 0

    package init() {}
}

/// Where a batch of rows comes from; filed beside the rows.
package struct RowOrigin: Sendable {
    package let app: AppID
    package let job: String
    package let run: Int64
    /// The stream's name.
    package let stream: String
    /// The transaction ID of the user's list under which the rows were found.
    package let listedTransactionID: String?

    var isRefundHistory: Bool { stream == "refundHistory" }

    package init(app: AppID, job: String, run: Int64, stream: String, listedTransactionID: String?) {
        self.app = app
        self.job = job
        self.run = run
        self.stream = stream
        self.listedTransactionID = listedTransactionID
    }
}

/// Brings the rows of one batch into the ledger, inside the caller's transaction.
///
/// Writing the same rows twice changes nothing the second time. Every batch names a record once: `Normalize` sees to it.
struct RecordWriter {
    let origin: RowOrigin
    let headers: SigningHeaders
    /// Whether a row made again from the snapshot the ledger holds takes its place: a newer StoreLedger may read more
    /// out of the same payload.
    var rewritesHeldSnapshots = false
    /// Whether every payload came out of the archive, which then has nothing to learn.
    var isArchived = false
    /// Whether some of what looked new is there after all, as an attempt before this one has shown: another worker was
    /// faster, or a row was removed by hand and its children were not.
    var isContested = false

    /// - Parameters:
    ///   - rows: What ``admit(_:on:)`` let pass of one page, or of the batch of a replay.
    ///   - itemKey: What a rejected record is filed under.
    ///   - connection: Inside a transaction.
    /// - Returns: What changed.
    /// - Throws: ``Postgres/PostgresError``; the transaction has then failed.
    func write(
        _ rows: PageRows,
        itemKey: String,
        on connection: borrowing PostgresConnection
    ) throws -> RowCounts {
        var counts = RowCounts()
        var inserted: [String: Set<ExactText>] = [:]
        var replaced: [String: Set<ExactText>] = [:]
        for table in Staging.snapshotTables {
            let snapshots = rows.snapshots.filter { $0.table == table }
            guard !snapshots.isEmpty else { continue }
            let merged = try merge(snapshots, into: table, issues: rows.issues, counting: &counts, on: connection)
            if let kind = Tables.recordKind(of: table) {
                inserted[kind] = merged.new
                replaced[kind] = merged.updated
            }
            crashPoint(.tableMerged)
        }
        try writeSendAttempts(rows.sendAttempts, on: connection)
        try writeArchive(rows.archive, inserted: inserted, on: connection)
        try QuotedIDs.file(rows, app: origin.app, on: connection)
        try removeIssues(of: replaced, on: connection)
        try writeRemarks(rows, itemKey: itemKey, on: connection)
        return counts
    }

    /// Makes row types and resolves header numbers before the transaction begins, so that none is remembered that was rolled
    /// back.
    func prepareSession(for rows: PageRows, on connection: borrowing PostgresConnection) throws {
        try Staging.prepare(for: rows, on: connection)
        guard !isArchived else { return }
        for payload in rows.archive {
            _ = try headers.number(of: payload.header, app: origin.app, on: connection)
        }
    }

    /// - Returns: The keys of the records that the ledger did not have, and of those that another snapshot, or another
    ///   reading, stands for now.
    private func merge(
        _ snapshots: [Snapshot],
        into table: Table,
        issues: [FieldIssue],
        counting counts: inout RowCounts,
        on connection: borrowing PostgresConnection
    ) throws -> (new: Set<ExactText>, updated: Set<ExactText>) {
        let judged = try triage(snapshots, of: table, issues: issues, on: connection)
        try insert(judged.new, into: table, on: connection)
        let new = Set(judged.new.map { ExactText($0.key) })
        var inserted = new
        var updated: Set<ExactText> = []
        for row in try replace(judged.standing, in: table, on: connection) {
            let key = ExactText(try row.text("key"))
            if try row.bool("inserted") { inserted.insert(key) } else { updated.insert(key) }
        }
        crashPoint(.tableStaged)
        // A transaction that refund history returned is one record of Apple's, though two tables hold it.
        if table != Tables.refunds {
            counts.new += inserted.count
            counts.updated += updated.count
            counts.unchanged += snapshots.count - inserted.count - updated.count
        }
        // A page may be about to put a newer snapshot in their place, with other rows of its own.
        updated.formUnion(try hold(judged.owners, in: table, on: connection))
        let winners = snapshots.filter {
            let key = ExactText($0.key)
            return inserted.contains(key) || updated.contains(key)
        }
        try replaceChildren(of: winners, updated: updated, in: table, on: connection)
        return (new, updated)
    }

    /// What is to be done with the snapshots of one table.
    private struct Judged {
        /// The ledger has not their records.
        var new: [Snapshot] = []
        /// May replace what the ledger has of their records.
        var standing: [Snapshot] = []
        /// Are what the ledger has, to a replay, and have or had rows of their own in other tables.
        var owners: [Snapshot] = []
    }

    private func triage(
        _ snapshots: [Snapshot],
        of table: Table,
        issues: [FieldIssue],
        on connection: borrowing PostgresConnection
    ) throws -> Judged {
        let names = SnapshotNames(of: table)
        let found = try connection.run(
            MergeSQL.triage(table, rewritesHeldSnapshots: rewritesHeldSnapshots),
            [.integer(origin.app.rawValue)],
            rows: rewritesHeldSnapshots ? try names.hashedRows(snapshots, issues: issues) : names.rows(snapshots),
            answer: .binary
        )
        var judged = Judged()
        for row in found {
            let snapshot = snapshots[Int(try row.int64("place")) - 1]
            // What looks new is there after all in some other form, as an attempt before this one has shown.
            if try row.bool("is_new"), !isContested {
                judged.new.append(snapshot)
            } else if try row.bool("may_win") {
                judged.standing.append(snapshot)
            }
            if try row.bool("owns_rows") { judged.owners.append(snapshot) }
        }
        return judged
    }

    /// Holds the rows of those snapshots that are still what the ledger has, until the transaction ends.
    private func hold(
        _ snapshots: [Snapshot],
        in table: Table,
        on connection: borrowing PostgresConnection
    ) throws -> Set<ExactText> {
        guard !snapshots.isEmpty else { return [] }
        let still = try connection.run(
            MergeSQL.holdSnapshots(table),
            [.integer(origin.app.rawValue)],
            rows: SnapshotNames(of: table).rows(snapshots)
        )
        return Set(try still.map { ExactText(try $0.text("key")) })
    }

    /// In the order of the keys, so that two pages of new records do not wait for each other.
    ///
    /// - Throws: ``Postgres/PostgresError``, `uniqueViolation` when another worker was first.
    private func insert(_ new: [Snapshot], into table: Table, on connection: borrowing PostgresConnection) throws {
        guard !new.isEmpty else { return }
        var constants: [(column: String, cell: Cell)] = [
            ("app_id", .integer(origin.app.rawValue)), ("last_run_id", .bigint(origin.run)),
        ]
        if table == Tables.transactions {
            constants += [("source", .text(origin.stream)), ("listed_transaction_id", listedTransactionID)]
        }
        _ = try connection.copyIn(
            table.name,
            columns: table.columns.map(\.name),
            rows: new.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.lazy.map(\.row),
            digest: (ContentHasher.column.name, ContentHasher.hash),
            constants: constants
        )
    }

    private func replace(
        _ standing: [Snapshot],
        in table: Table,
        on connection: borrowing PostgresConnection
    ) throws -> [PostgresRow] {
        guard !standing.isEmpty else { return [] }
        var parameters: [Cell] = [.integer(origin.app.rawValue), .bigint(origin.run)]
        if table == Tables.transactions { parameters += [.text(origin.stream), listedTransactionID] }
        var hasher = try ContentHasher(of: table)
        let changed = try connection.run(
            MergeSQL.newestWins(table, rewritesHeldSnapshots: rewritesHeldSnapshots),
            parameters,
            rows: Staging.rows(
                try standing.map { $0.row + [try hasher.hash(of: $0.row)] },
                of: Staging.hashed(table)
            )
        )
        return Array(changed)
    }

    private var listedTransactionID: Cell { origin.listedTransactionID.map(Cell.text) ?? .null }

    /// Child rows live and die with their snapshot: those of an older one go, those of the winner come.
    private func replaceChildren(
        of winners: [Snapshot],
        updated: Set<ExactText>,
        in table: Table,
        on connection: borrowing PostgresConnection
    ) throws {
        guard let ownerKind = Tables.ownerKind(of: table) else { return }
        var owners = updated
        // A new snapshot has older children too where its row alone was removed by hand. They are in the way of its own; where
        // it has none, a replay finds and removes them.
        if isContested { owners.formUnion(winners.filter { !$0.children.isEmpty }.map { ExactText($0.key) }) }
        if !owners.isEmpty {
            for child in Tables.owned {
                // Such tables stay small in most ledgers, and a plan made for a small one must not be kept.
                _ = try connection.runOnce(
                    MergeSQL.removeChildren(child),
                    [.integer(origin.app.rawValue), .text(ownerKind), .textArray(owners.map(\.text).sorted())]
                )
            }
        }
        for child in Tables.owned {
            let rows = winners.flatMap { $0.children.filter { $0.table == child }.flatMap(\.rows) }
            guard !rows.isEmpty else { continue }
            _ = try connection.copyIn(
                child.name,
                columns: child.columns.map(\.name),
                rows: rows,
                constants: [("app_id", .integer(origin.app.rawValue))]
            )
        }
    }

    /// An odd field goes with the snapshot that had it; the one that comes brings its own.
    ///
    /// Only once all tables are merged: a page that has nothing new locks none of their rows, but it does file its odd
    /// fields, and must not hold what another page waits for that holds these.
    private func removeIssues(
        of replaced: [String: Set<ExactText>],
        on connection: borrowing PostgresConnection
    ) throws {
        for (kind, keys) in replaced.sorted(by: { $0.key < $1.key }) where !keys.isEmpty {
            // Few ledgers have many, and a plan made for few must not be kept.
            _ = try connection.runOnce(
                "DELETE FROM field_issues WHERE app_id = $1::integer AND kind = $2::text AND record_key = ANY ($3::text[])",
                [.integer(origin.app.rawValue), .text(kind), .textArray(keys.map(\.text).sorted())]
            )
        }
    }

    private func writeSendAttempts(_ rows: [Row], on connection: borrowing PostgresConnection) throws {
        guard !rows.isEmpty else { return }
        _ = try connection.run(
            MergeSQL.sendAttempts,
            [.integer(origin.app.rawValue)],
            rows: Staging.rows(rows, of: Tables.notificationSendAttempts)
        )
    }

    /// Odd values, rejects and unknown fields, always in this order and each sorted, because every worker may meet the
    /// same ones.
    private func writeRemarks(
        _ rows: PageRows,
        itemKey: String,
        on connection: borrowing PostgresConnection
    ) throws {
        let app = Cell.integer(origin.app.rawValue)
        for issue in rows.issues.sorted(by: { ($0.kind, $0.recordKey, $0.path) < ($1.kind, $1.recordKey, $1.path) }) {
            _ = try connection.run(
                MergeSQL.issue(of: issue.kind),
                [
                    app, .text(issue.kind), .text(issue.recordKey), .text(issue.path), .text(issue.found),
                    issue.signedDate.map(Cell.timestamp) ?? .null,
                ]
            )
        }
        for record in rows.rejected.sorted(by: { $0.sha256.lexicographicallyPrecedes($1.sha256) }) {
            let filed = try connection.run(
                MergeSQL.rejected,
                [
                    app, .text(origin.job), .text(origin.stream), .text(itemKey), .text(record.reason),
                    .text(record.detail), .bytea(record.sha256), .bytea(Array(record.raw.prefix(65_536))),
                    .bigint(origin.run),
                ]
            )
            if let row = filed.first {
                let ids = IDTraces.ids(in: record.raw).union(IDTraces.ids(in: Array(record.detail.utf8)))
                try QuotedIDs.file(ids, of: .rejected, try row.text("record_id"), app: origin.app, on: connection)
            }
            crashPoint(.rejectFiled)
        }
        let drift = Dictionary(grouping: rows.drift) { [$0.kind, $0.path] }
        for (path, seen) in drift.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            _ = try connection.run(
                MergeSQL.drift,
                [app, .text(path[0]), .text(path[1]), .text(seen[0].sample), .bigint(Int64(seen.count))]
            )
        }
    }
}
