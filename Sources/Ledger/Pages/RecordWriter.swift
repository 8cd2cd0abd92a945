import LedgerTables
import Postgres

/// How many records of a batch were new, newer, or known already.
package struct RowCounts: Equatable, Sendable {
    package var new = 0
    package var updated = 0
    package var unchanged = 0

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
/// Writing the same rows twice changes nothing the second time.
struct RecordWriter {
    let origin: RowOrigin
    let headers: SigningHeaders

    /// - Parameters:
    ///   - rows: One page, or the batch of a replay.
    ///   - itemKey: What a rejected record is filed under.
    ///   - connection: Inside a transaction.
    func write(
        _ rows: PageRows,
        itemKey: String,
        on connection: borrowing PostgresConnection
    ) throws -> RowCounts {
        var counts = RowCounts()
        for table in Staging.snapshotTables {
            let snapshots = Self.newestOfEach(rows.snapshots.filter { $0.table == table })
            guard !snapshots.isEmpty else { continue }
            try merge(snapshots, into: table, counting: &counts, on: connection)
        }
        try writeSendAttempts(rows.sendAttempts, on: connection)
        try writeArchive(rows.archive, on: connection)
        try writeRemarks(rows, itemKey: itemKey, on: connection)
        return counts
    }

    /// Resolves header numbers before the transaction begins, so that none is remembered that was rolled back.
    func prepareHeaders(of rows: PageRows, on connection: borrowing PostgresConnection) throws {
        for payload in rows.archive {
            _ = try headers.number(of: payload.header, app: origin.app, on: connection)
        }
    }

    private func merge(
        _ snapshots: [Snapshot],
        into table: Table,
        counting counts: inout RowCounts,
        on connection: borrowing PostgresConnection
    ) throws {
        _ = try connection.copyIn(
            Staging.name(of: table),
            columns: table.columns.map(\.name),
            rows: snapshots.map(\.row)
        )
        var parameters: [Cell] = [.integer(origin.app.rawValue), .bigint(origin.run)]
        if table == Tables.transactions {
            parameters += [.text(origin.stream), origin.listedTransactionID.map(Cell.text) ?? .null]
        }
        let changed = try connection.run(MergeSQL.newestWins(table), parameters)
        var inserted: Set<String> = []
        var updated: Set<String> = []
        for row in 0..<changed.count {
            let key = try changed[row].text("key")
            if try changed[row].bool("inserted") { inserted.insert(key) } else { updated.insert(key) }
        }
        // A transaction that refund history returned is one record of Apple's, though two tables hold it.
        if table != Tables.refunds {
            counts.new += inserted.count
            counts.updated += updated.count
            counts.unchanged += snapshots.count - inserted.count - updated.count
        }
        let winners = snapshots.filter { inserted.contains($0.key) || updated.contains($0.key) }
        try replaceChildren(of: winners, updated: updated, in: table, on: connection)
    }

    /// Child rows live and die with their snapshot: those of an older one go, those of the winner come.
    private func replaceChildren(
        of winners: [Snapshot],
        updated: Set<String>,
        in table: Table,
        on connection: borrowing PostgresConnection
    ) throws {
        guard let ownerKind = Tables.ownerKind(of: table) else { return }
        if !updated.isEmpty {
            for child in Tables.owned {
                _ = try connection.run(
                    "DELETE FROM \(child.name) WHERE app_id = $1::integer AND owner_kind = $2::text AND owner_key = ANY ($3::text[])",
                    [.integer(origin.app.rawValue), .text(ownerKind), .textArray(updated.sorted())]
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

    private func writeSendAttempts(_ rows: [Row], on connection: borrowing PostgresConnection) throws {
        guard !rows.isEmpty else { return }
        let table = Tables.notificationSendAttempts
        _ = try connection.copyIn(
            Staging.name(of: table),
            columns: table.columns.map(\.name),
            rows: Self.distinct(rows)
        )
        _ = try connection.run(MergeSQL.sendAttempts, [.integer(origin.app.rawValue)])
    }

    private func writeArchive(
        _ payloads: [ArchivedPayload],
        on connection: borrowing PostgresConnection
    ) throws {
        guard !payloads.isEmpty else { return }
        var numbers: [[UInt8]: Int32] = [:]
        for payload in payloads where numbers[payload.header] == nil {
            numbers[payload.header] = try headers.number(of: payload.header, app: origin.app, on: connection)
        }
        let known = numbers.map { (text: $0.key, number: $0.value) }
        let rows: [Row] = payloads.map { payload in
            // Only a notification quotes other JWS.
            let bytes =
                payload.kind == "notification"
                ? HeaderSplice.shorten(payload.payload, headers: known) : payload.payload
            return [
                .text(payload.kind), .text(payload.recordKey), .timestamp(payload.signedDate),
                .bytea(payload.payloadSHA256), numbers[payload.header].map(Cell.integer) ?? .null, .bytea(bytes),
                .bytea(payload.signature), .boolean(origin.isRefundHistory && payload.kind == "transaction"),
            ]
        }
        let table = Staging.archive
        _ = try connection.copyIn(Staging.name(of: table), columns: table.columns.map(\.name), rows: rows)
        _ = try connection.run(MergeSQL.archive, [.integer(origin.app.rawValue)])
    }

    /// Rejects, unknown fields and odd values; sorted, because every worker may meet the same ones.
    private func writeRemarks(
        _ rows: PageRows,
        itemKey: String,
        on connection: borrowing PostgresConnection
    ) throws {
        let app = Cell.integer(origin.app.rawValue)
        for record in rows.rejected {
            _ = try connection.run(
                MergeSQL.rejected,
                [
                    app, .text(origin.job), .text(origin.stream), .text(itemKey), .text(record.reason),
                    .text(record.detail), .bytea(record.sha256), .bytea(Array(record.raw.prefix(65_536))),
                    .bigint(origin.run),
                ]
            )
        }
        for issue in rows.issues.sorted(by: { ($0.kind, $0.recordKey, $0.path) < ($1.kind, $1.recordKey, $1.path) }) {
            _ = try connection.run(
                MergeSQL.issue,
                [app, .text(issue.kind), .text(issue.recordKey), .text(issue.path), .text(issue.found)]
            )
        }
        let drift = Dictionary(grouping: rows.drift) { [$0.kind, $0.path] }
        for (path, seen) in drift.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            _ = try connection.run(
                MergeSQL.drift,
                [app, .text(path[0]), .text(path[1]), .text(seen[0].sample), .bigint(Int64(seen.count))]
            )
        }
    }

    /// One `INSERT … ON CONFLICT` cannot touch a row twice, and Apple sends a record that changes while we page again.
    private static func newestOfEach(_ snapshots: [Snapshot]) -> [Snapshot] {
        var newest: [String: Snapshot] = [:]
        newest.reserveCapacity(snapshots.count)
        for snapshot in snapshots {
            if let known = newest[snapshot.key], !snapshot.isNewer(than: known) { continue }
            newest[snapshot.key] = snapshot
        }
        return newest.count == snapshots.count ? snapshots : Array(newest.values)
    }

    /// The last row of each notification and attempt date.
    private static func distinct(_ rows: [Row]) -> [Row] {
        var last: [[Cell]: Row] = [:]
        for row in rows { last[Array(row.prefix(2))] = row }
        return Array(last.values)
    }
}

extension Snapshot {
    /// The order of snapshots of one record; `MergeSQL.newestWins` has the same in SQL.
    func isNewer(than other: Snapshot) -> Bool {
        guard signedDate == other.signedDate else { return signedDate > other.signedDate }
        guard isRevoked == other.isRevoked else { return isRevoked }
        return other.payloadSHA256.lexicographicallyPrecedes(payloadSHA256)
    }
}
