package import AppStoreModel
import JobPlan
import LedgerSchema
import Postgres
import SignedData
import StrictJSON
import Basics

/// How many records of a batch were new, newer, or known already.
package struct RowCounts: Equatable, Sendable {
    package var new = 0
    package var updated = 0
    package var unchanged = 0
    /// Records of erased customers, which are not stored.
    package var withheld = 0
    /// The reason of each rejected record that the ledger did not have; see ``Quarantine``.
    package var newlyRejected: [String] = []

    package init() {}
}

/// How records are merged with what the ledger has.
package enum MergeMode: Sendable {
    /// Records of an answer of Apple's.
    case fetched
    /// Records that are verified again, such as rejected ones and those inside notifications.
    ///
    /// A row that is made again from the snapshot the ledger has replaces it, because a newer StoreLedger may read more from
    /// the same payload.
    case replayed
    /// As ``replayed``; every payload comes from the archive, so that nothing has to be archived.
    case replayedFromArchive

    var rewritesHeldSnapshots: Bool { self != .fetched }
    var archives: Bool { self != .replayedFromArchive }
}

/// Where a batch of rows comes from; recorded beside the rows.
package struct RowOrigin: Sendable {
    package let app: AppID
    package let job: String
    /// `nil` for rows that a replay makes again.
    package let run: Int64?
    package let stream: StreamName
    /// The transaction ID of the user's list under which the rows were found.
    package let listedTransactionID: String?
    /// When Apple answered, at the latest; `nil` for rows that Apple was not asked for now.
    package let readAt: UnixMilliseconds?
    /// Whether the job has read these notifications' day before, so that new ones among them came late.
    package let isSecondReading: Bool

    /// The tables hold 0 where no run brought the row.
    var runNumber: Int64 { run ?? 0 }

    private var streamType: (any AppStoreStream.Type)? { AllStreams.type(of: stream) }

    /// Whether the transactions are refunds.
    var bringsRefunds: Bool { streamType?.bringsRefunds ?? false }

    /// Whether the rows tell which customers have changed.
    var namesChangedCustomers: Bool { streamType?.namesChangedCustomers ?? false }

    package init(
        app: AppID,
        job: String,
        run: Int64?,
        stream: StreamName,
        listedTransactionID: String?,
        readAt: UnixMilliseconds? = nil,
        isSecondReading: Bool = false
    ) {
        self.app = app
        self.job = job
        self.run = run
        self.stream = stream
        self.listedTransactionID = listedTransactionID
        self.readAt = readAt
        self.isSecondReading = isSecondReading
    }
}

/// Brings the rows of one batch into the ledger, inside the caller's transaction.
///
/// Writing the same rows twice changes nothing the second time. Every batch names a record once: `Normalize` sees to it.
struct RecordWriter {
    let origin: RowOrigin
    let headers: SigningHeaders
    var mode = MergeMode.fetched
    /// Whether this attempt follows one in which a record looked new and was not: another worker was faster, or a row was
    /// removed by hand and its children were not.
    var isRetryAfterConflict = false

    /// Brings verified records into the ledger: the one entry point for pages of a crawl and for replays.
    ///
    /// Records of erased customers are taken out first, and erasures wait until the transaction ends.
    ///
    /// - Parameters:
    ///   - rows: One page, or the batch of a replay.
    ///   - itemKey: Recorded with rejected records.
    ///   - planner: The app whose job lists the page's ID, where that is another environment's than the rows'.
    ///   - connection: Inside a transaction.
    ///   - written: Called once the rows are written, with those that were stored: a page moves its item on there.
    /// - Returns: What changed.
    /// - Throws: ``Postgres/PostgresError``, what `written` throws; the transaction has then failed.
    func store(
        _ rows: PageRows,
        itemKey: String,
        plannedBy planner: AppID? = nil,
        on connection: borrowing PostgresConnection,
        written: (PageRows, RowCounts, borrowing PostgresConnection) throws -> Void
    ) throws -> RowCounts {
        let filtered = try filterErased(rows, plannedBy: planner, on: connection)
        var counts = try write(filtered.rows, itemKey: itemKey, on: connection)
        counts.withheld = filtered.withheld
        try written(filtered.rows, counts, connection)
        try forgetRecognised(filtered, plannedBy: planner, on: connection)
        return counts
    }

    /// - Parameters:
    ///   - rows: Without records of erased customers.
    ///   - itemKey: Recorded with rejected records.
    ///   - connection: Inside a transaction.
    /// - Returns: What changed.
    /// - Throws: ``Postgres/PostgresError``; the transaction has then failed.
    private func write(
        _ rows: PageRows,
        itemKey: String,
        on connection: borrowing PostgresConnection
    ) throws -> RowCounts {
        var counts = RowCounts()
        var merged = MergedRecords()
        let payloads = Dictionary(rows.archive.map { ($0.payloadSHA256, $0) }, uniquingKeysWith: { first, _ in first })
        for table in Staging.snapshotTables {
            let snapshots = rows.snapshots.filter { $0.table == table }
            guard !snapshots.isEmpty else { continue }
            let triaged = try triage(snapshots, of: table, issues: rows.issues, on: connection)
            let changed = try merge(triaged, into: table, payloads: payloads, on: connection)
            merged.note(snapshots, of: table, changed, triaged)
            // A transaction that refund history returned is one record of Apple's, though two tables hold it.
            if table != Tables.refunds { counts.add(changed, of: snapshots.count) }
            crashPoint(.tableMerged)
        }
        try writeSendAttempts(rows.sendAttempts, on: connection)
        try writeArchive(
            rows.archive.filter { !merged.isKnownContent($0) },
            inserted: merged.inserted,
            on: connection
        )
        try QuotedIDs.store(rows, app: origin.app, on: connection)
        try removeIssues(of: merged.replaced, on: connection)
        // A crawl's new notification names its customer by itself. A record that only a replay accepts came long before.
        if mode.rewritesHeldSnapshots, origin.namesChangedCustomers {
            try markChangedCustomers(merged.written(among: rows.snapshots), on: connection)
        }
        counts.newlyRejected = try writeRemarks(
            rows,
            issues: rows.issues.filter(merged.isOfWrittenRecord),
            itemKey: itemKey,
            on: connection
        )
        return counts
    }

    /// Makes row types and resolves header numbers before the transaction begins, so that none is remembered that was rolled
    /// back.
    func prepareSession(for rows: PageRows, on connection: borrowing PostgresConnection) throws {
        try Staging.prepare(for: rows, on: connection)
        guard mode.archives else { return }
        for payload in rows.archive {
            _ = try headers.number(of: payload.header, app: origin.app, on: connection)
        }
    }

    /// Brings the snapshots of one table into it, with their children.
    private func merge(
        _ triaged: TriagedSnapshots,
        into table: Table,
        payloads: [[UInt8]: ArchivedPayload],
        on connection: borrowing PostgresConnection
    ) throws -> ChangedRecords {
        try insert(triaged.new, into: table, on: connection)
        try keepSignatures(of: triaged.held, in: table, payloads: payloads, on: connection)
        var changed = ChangedRecords(new: Set(triaged.new.map { ExactText($0.snapshot.key) }))
        changed.inserted = changed.new
        for row in try replace(triaged.standing, in: table, on: connection) {
            let key = ExactText(try row.text("key"))
            if try row.bool("inserted") { changed.inserted.insert(key) } else { changed.updated.insert(key) }
        }
        if !triaged.unlisted.isEmpty {
            _ = try connection.run(
                MergeSQL.fillListedID,
                [.integer(origin.app.rawValue), listedTransactionID, .textArray(triaged.unlisted.sorted())]
            )
        }
        try removeSignatureLocks(of: triaged.held.filter { !$0.isSignedAgain }, in: table, on: connection)
        if origin.isSecondReading, table == Tables.notifications {
            try markLate(changed.inserted.subtracting(changed.new), on: connection)
        }
        crashPoint(.tableStaged)
        // A page may be about to put a newer snapshot in their place, with other rows of its own.
        let owners = try hold(triaged.owners, in: table, on: connection)
        let written = changed.inserted.union(changed.updated).union(owners)
        let winners = triaged.snapshots.filter { written.contains(ExactText($0.key)) }
        try replaceChildren(of: winners, updated: changed.updated.union(owners), in: table, on: connection)
        changed.rewritten = changed.updated.union(owners)
        return changed
    }

    private func triage(
        _ snapshots: [Snapshot],
        of table: Table,
        issues: [FieldIssue],
        on connection: borrowing PostgresConnection
    ) throws -> TriagedSnapshots {
        var hasher = ContentHasher(of: table)
        var hashes: [Cell] = []
        hashes.reserveCapacity(snapshots.count)
        for snapshot in snapshots { hashes.append(try hasher.hash(of: snapshot)) }
        let found = try connection.run(
            MergeSQL.triage(table, mode: mode),
            [.integer(origin.app.rawValue)] + (table == Tables.transactions ? [listedTransactionID] : []),
            rows: SnapshotNames(of: table)
                .rows(snapshots, hashes: hashes, issues: mode.rewritesHeldSnapshots ? issues : nil),
            answer: .binary
        )
        var triaged = TriagedSnapshots(snapshots: snapshots)
        for row in found {
            let place = Int(try row.int64("place")) - 1
            let hashed = HashedSnapshot(snapshot: snapshots[place], hash: hashes[place])
            let mayWin = try row.bool("may_win")
            let isSignedAgain = try row.bool("is_signed_again")
            // A record that looks new is there after all in some other form, as an attempt before this one has shown.
            if try row.bool("is_new"), !isRetryAfterConflict {
                triaged.new.append(hashed)
            } else if mayWin {
                triaged.standing.append(hashed)
            }
            if let held = try row.bytesOrNil("held_sha256"), mayWin || isSignedAgain,
                held != hashed.snapshot.payloadSHA256
            {
                triaged.held.append(
                    HeldRecord(snapshot: hashed.snapshot, heldSHA256: held, isSignedAgain: isSignedAgain)
                )
            }
            if try row.bool("owns_rows") { triaged.owners.append(hashed.snapshot) }
            let lacksListedID = try row.bool("lacks_listed_id")
            if lacksListedID { triaged.unlisted.append(hashed.snapshot.key) }
            if !isSignedAgain, !lacksListedID { triaged.otherContent.insert(ExactText(hashed.snapshot.key)) }
        }
        return triaged
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

    /// Has jobs with `changedSince` request the customers of records that were accepted after their notification was followed.
    private func markChangedCustomers(
        _ snapshots: [Snapshot],
        on connection: borrowing PostgresConnection
    ) throws {
        let marks = snapshots.compactMap { snapshot -> Row? in
            guard snapshot.table == Tables.transactions || snapshot.table == Tables.renewals else { return nil }
            let cell = { (name: String) in
                snapshot.table.columns.firstIndex { $0.name == name }.map { snapshot.row[$0] } ?? .null
            }
            return [cell("original_transaction_id"), cell("app_transaction_id"), .timestamp(snapshot.signedDate)]
        }
        _ = try connection.copyIn(
            "changed_customers",
            columns: ["transaction_id", "app_transaction_id", "signed_date"],
            rows: marks,
            constants: [("app_id", .integer(origin.app.rawValue))]
        )
    }

    /// In the order of the keys, so that two pages of new records do not wait for each other.
    ///
    /// - Throws: ``Postgres/PostgresError``, `uniqueViolation` when another worker was first.
    private func insert(_ new: [HashedSnapshot], into table: Table, on connection: borrowing PostgresConnection) throws
    {
        guard !new.isEmpty else { return }
        var constants: [(column: String, cell: Cell)] = [
            ("app_id", .integer(origin.app.rawValue)), ("last_run_id", .bigint(origin.runNumber)),
        ]
        if table == Tables.transactions {
            constants += [("source", .text(origin.stream.rawValue)), ("listed_transaction_id", listedTransactionID)]
        }
        if origin.isSecondReading, table == Tables.notifications {
            constants.append(("late_run_id", .bigint(origin.runNumber)))
        }
        _ = try connection.copyIn(
            table.name,
            columns: Staging.hashed(table).columns.map(\.name),
            rows: new.sorted { $0.snapshot.key.utf8.lexicographicallyPrecedes($1.snapshot.key.utf8) }.lazy.map(\.row),
            constants: constants
        )
    }

    private func replace(
        _ standing: [HashedSnapshot],
        in table: Table,
        on connection: borrowing PostgresConnection
    ) throws -> [PostgresRow] {
        guard !standing.isEmpty else { return [] }
        var parameters: [Cell] = [.integer(origin.app.rawValue), .bigint(origin.runNumber)]
        if table == Tables.transactions { parameters += [.text(origin.stream.rawValue), listedTransactionID] }
        let changed = try connection.run(
            MergeSQL.newestWins(table, mode: mode),
            parameters,
            rows: Staging.rows(standing.map(\.row), of: Staging.hashed(table))
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
        guard let kind = RecordKind(of: table), let ownerKind = kind.ownerKind else { return }
        var owners = updated
        // A new snapshot has older children too where its row alone was removed by hand. They are in the way of its own; where
        // it has none, a replay finds and removes them.
        if isRetryAfterConflict { owners.formUnion(winners.filter { !$0.children.isEmpty }.map { ExactText($0.key) }) }
        if !owners.isEmpty {
            for child in kind.children {
                // Such tables stay small in most ledgers, and a plan made for a small one must not be kept.
                _ = try connection.runOnce(
                    MergeSQL.removeChildren(child),
                    [.integer(origin.app.rawValue), .text(ownerKind), .textArray(owners.map(\.text).sorted())]
                )
            }
        }
        for child in kind.children {
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
        of replaced: [RecordKind: Set<ExactText>],
        on connection: borrowing PostgresConnection
    ) throws {
        for (kind, keys) in replaced.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where !keys.isEmpty {
            // Few ledgers have many, and a plan made for few must not be kept.
            _ = try connection.runOnce(
                "DELETE FROM field_issues WHERE app_id = $1::integer AND kind = $2::text AND record_key = ANY ($3::text[])",
                [.integer(origin.app.rawValue), .text(kind.rawValue), .textArray(keys.map(\.text).sorted())]
            )
        }
    }

    /// Notes which run found the notifications that entered Apple's history after their day had been read, where they were
    /// not inserted with it.
    private func markLate(_ uuids: Set<ExactText>, on connection: borrowing PostgresConnection) throws {
        guard !uuids.isEmpty else { return }
        _ = try connection.run(
            "UPDATE notifications SET late_run_id = $2::bigint WHERE app_id = $1::integer AND notification_uuid = ANY ($3::text[])",
            [.integer(origin.app.rawValue), .bigint(origin.runNumber), .textArray(uuids.map(\.text).sorted())]
        )
    }

    private func writeSendAttempts(_ rows: [Row], on connection: borrowing PostgresConnection) throws {
        guard !rows.isEmpty else { return }
        _ = try connection.run(
            MergeSQL.sendAttempts,
            [.integer(origin.app.rawValue), origin.readAt.map { .timestamp($0.rawValue) } ?? .null],
            rows: Staging.rows(rows, of: Tables.notificationSendAttempts)
        )
    }

    /// Bytes of a rejected record that are kept: as many as the longest record that is accepted has, so that a replay can
    /// accept it.
    private static let longestReject = JWSVerifier.maximumNotificationBytes

    /// Odd values, rejects and unknown fields, always in this order and each sorted, because every worker may meet the
    /// same ones.
    ///
    /// - Returns: The reason of each reject that the ledger did not have.
    private func writeRemarks(
        _ rows: PageRows,
        issues: [FieldIssue],
        itemKey: String,
        on connection: borrowing PostgresConnection
    ) throws -> [String] {
        let app = Cell.integer(origin.app.rawValue)
        for issue in issues.sorted(by: {
            ($0.kind.rawValue, $0.recordKey, $0.path) < ($1.kind.rawValue, $1.recordKey, $1.path)
        }) {
            _ = try connection.run(
                MergeSQL.issue,
                [
                    app, .text(issue.kind.rawValue), .text(issue.recordKey), .text(issue.path), .text(issue.found),
                    issue.signedDate.map(Cell.timestamp) ?? .null,
                ]
            )
        }
        let quarantine = Quarantine(origin: origin)
        var newlyRejected: [String] = []
        for record in rows.rejected.sorted(by: Quarantine.precedes) {
            let isKnown = try quarantine.knows(record, on: connection)
            let filed = try connection.run(
                MergeSQL.rejected,
                [
                    app, .text(origin.job), .text(origin.stream.rawValue), .text(itemKey), .text(record.reason),
                    .text(record.detail), .bytea(record.sha256), .bytea(Array(record.raw.prefix(Self.longestReject))),
                    .bigint(origin.runNumber),
                ]
            )
            if !isKnown {
                try quarantine.remember(record, on: connection)
                newlyRejected.append(record.reason)
            }
            if let row = filed.first {
                let ids = IDTraces.ids(in: record.raw).union(IDTraces.ids(in: Array(record.detail.utf8)))
                try QuotedIDs.store(ids, of: .rejected, try row.text("record_id"), app: origin.app, on: connection)
            }
            crashPoint(.rejectFiled)
        }
        let drift = Dictionary(grouping: rows.drift) { [$0.kind.rawValue, $0.path] }
        for (path, seen) in drift.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            _ = try connection.run(
                MergeSQL.drift,
                [app, .text(path[0]), .text(path[1]), .text(seen[0].sample), .bigint(Int64(seen.count))]
            )
        }
        return newlyRejected
    }
}
