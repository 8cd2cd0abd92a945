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
        var replaced: [String: Set<ExactText>] = [:]
        for table in Staging.snapshotTables {
            let snapshots = rows.snapshots.filter { $0.table == table }
            guard !snapshots.isEmpty else { continue }
            let updated = try merge(snapshots, into: table, issues: rows.issues, counting: &counts, on: connection)
            if let kind = Tables.recordKind(of: table) { replaced[kind] = updated }
            crashPoint(.tableMerged)
        }
        try writeSendAttempts(rows.sendAttempts, on: connection)
        try writeArchive(rows.archive, on: connection)
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

    /// - Returns: The keys of the records that another snapshot, or another reading, stands for now.
    private func merge(
        _ snapshots: [Snapshot],
        into table: Table,
        issues: [FieldIssue],
        counting counts: inout RowCounts,
        on connection: borrowing PostgresConnection
    ) throws -> Set<ExactText> {
        var parameters: [Cell] = [.integer(origin.app.rawValue), .bigint(origin.run)]
        if table == Tables.transactions {
            parameters += [.text(origin.stream), origin.listedTransactionID.map(Cell.text) ?? .null]
        }
        let changed = try connection.run(
            MergeSQL.newestWins(table, rewritesHeldSnapshots: rewritesHeldSnapshots),
            parameters,
            rows: Staging.rows(snapshots.map(\.row), of: table)
        )
        crashPoint(.tableStaged)
        var inserted: Set<ExactText> = []
        var updated: Set<ExactText> = []
        for row in changed {
            let key = ExactText(try row.text("key"))
            if try row.bool("inserted") { inserted.insert(key) } else { updated.insert(key) }
        }
        // A transaction that refund history returned is one record of Apple's, though two tables hold it.
        if table != Tables.refunds {
            counts.new += inserted.count
            counts.updated += updated.count
            counts.unchanged += snapshots.count - inserted.count - updated.count
        }
        if rewritesHeldSnapshots, let held = MergeSQL.heldSnapshots(table) {
            let kind = Tables.recordKind(of: table)
            let now = Set(
                snapshots.filter { $0.children.contains { !$0.rows.isEmpty } }.map { ExactText($0.key) }
                    + issues.filter { $0.kind == kind }.map { ExactText($0.recordKey) }
            )
            let found = try connection.run(
                held,
                [.integer(origin.app.rawValue), .textArray(now.map(\.text).sorted())],
                rows: Staging.rows(
                    snapshots.map { [.text($0.key), .bytea($0.payloadSHA256)] },
                    of: Staging.snapshotNames
                )
            )
            updated.formUnion(try found.map { ExactText(try $0.text("key")) })
        }
        let winners = snapshots.filter {
            let key = ExactText($0.key)
            return inserted.contains(key) || updated.contains(key)
        }
        try replaceChildren(of: winners, updated: updated, in: table, on: connection)
        return updated
    }

    /// Child rows live and die with their snapshot: those of an older one go, those of the winner come.
    private func replaceChildren(
        of winners: [Snapshot],
        updated: Set<ExactText>,
        in table: Table,
        on connection: borrowing PostgresConnection
    ) throws {
        guard let ownerKind = Tables.ownerKind(of: table) else { return }
        // A new snapshot has older children too where its row alone was removed by hand.
        let owners = updated.union(winners.filter { !$0.children.isEmpty }.map { ExactText($0.key) })
        if !owners.isEmpty {
            for child in Tables.owned {
                _ = try connection.run(
                    "DELETE FROM \(child.name) WHERE app_id = $1::integer AND owner_kind = $2::text AND owner_key = ANY ($3::text[])",
                    [.integer(origin.app.rawValue), .text(ownerKind), .textArray(owners.map(\.text).sorted())]
                )
            }
        }
        for child in Tables.owned {
            let rows = winners.flatMap { $0.children.filter { $0.table == child }.flatMap(\.rows) }
            guard !rows.isEmpty else { continue }
            let app = Cell.integer(origin.app.rawValue)
            _ = try connection.copyIn(
                child.name,
                columns: ["app_id"] + child.columns.map(\.name),
                rows: rows.map { [app] + $0 }
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
            _ = try connection.run(
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

    private func writeArchive(
        _ payloads: [ArchivedPayload],
        on connection: borrowing PostgresConnection
    ) throws {
        guard !payloads.isEmpty, !isArchived else { return }
        let numbers = try payloads.map { try headers.number(of: $0.header, app: origin.app, on: connection) }
        var known: [(text: [UInt8], number: Int32)] = []
        for (payload, number) in zip(payloads, numbers) where !known.contains(where: { $0.number == number }) {
            known.append((payload.header, number))
        }
        let rows: [Row] = zip(payloads, numbers).map { payload, number in
            // Only a notification quotes other JWS.
            let bytes =
                payload.kind == "notification"
                ? HeaderSplice.shorten(payload.payload, headers: known) : payload.payload
            return [
                .text(payload.kind), .text(payload.recordKey), .timestamp(payload.signedDate),
                .bytea(payload.payloadSHA256), .integer(number), .bytea(bytes),
                .bytea(payload.signature), .boolean(origin.isRefundHistory && payload.kind == "transaction"),
            ]
        }
        _ = try connection.run(
            MergeSQL.archive,
            [.integer(origin.app.rawValue)],
            rows: Staging.rows(rows, of: Staging.archive)
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
            _ = try connection.run(
                MergeSQL.rejected,
                [
                    app, .text(origin.job), .text(origin.stream), .text(itemKey), .text(record.reason),
                    .text(record.detail), .bytea(record.sha256), .bytea(Array(record.raw.prefix(65_536))),
                    .bigint(origin.run),
                ]
            )
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
