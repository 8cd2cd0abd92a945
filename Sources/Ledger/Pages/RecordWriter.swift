import AppStoreModel
import Basics
package import LedgerSchema
package import Postgres
import SignedData
import StrictJSON

/// Writes the rows of one batch inside the caller's transaction.
///
/// Writing the same rows twice has no further effect. `Normalize` ensures that a batch contains each record once.
package struct RecordWriter {
    let origin: RowOrigin
    package let headers: SigningHeaders
    let mode: MergeMode

    package init(origin: RowOrigin, headers: SigningHeaders, mode: MergeMode = .fetched) {
        self.origin = origin
        self.headers = headers
        self.mode = mode
    }

    /// Writes verified records to the ledger; crawls, replays and receivers use it.
    ///
    /// First withholds records of erased customers, and blocks erasures until the transaction ends.
    ///
    /// - Parameters:
    ///   - rows: One page, or one batch of a replay or of a receiver.
    ///   - itemKey: Stored with rejected records.
    ///   - planningApp: The app of the job that lists the page's ID. It differs from the rows' app if the ID is crawled
    ///     in Apple's other environment.
    ///   - connection: Inside a transaction.
    ///   - written: Called with the stored rows after they are written. The commit of a page advances its item there.
    /// - Throws: ``Postgres/PostgresError``, errors of `written`; the transaction has then failed.
    package func store(
        _ rows: PageRows,
        itemKey: String,
        plannedBy planningApp: AppID? = nil,
        on connection: borrowing PostgresConnection,
        written: (PageRows, RowCounts, borrowing PostgresConnection) throws -> Void
    ) throws -> RowCounts {
        let rows = try withAppTransactions(rows, on: connection)
        let filtered = try filterErased(rows, plannedBy: planningApp, on: connection)
        var counts = try write(filtered.rows, itemKey: itemKey, on: connection)
        counts.withheld = filtered.withheld
        try written(filtered.rows, counts, connection)
        try removeRevealedIDs(of: filtered, plannedBy: planningApp, on: connection)
        return counts
    }

    /// Writes records, archive, field issues, rejects and unknown fields.
    ///
    /// - Parameters:
    ///   - rows: The batch, without records of erased customers.
    ///   - itemKey: Stored with rejected records.
    ///   - connection: Inside a transaction.
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
            var triaged = try triage(snapshots, of: table, issues: rows.issues, on: connection)
            let missed = try insert(&triaged.new, into: table, on: connection)
            if !missed.isEmpty {
                triaged.replace(missed, by: try triage(missed, of: table, issues: rows.issues, on: connection))
            }
            let changed = try merge(triaged, into: table, payloads: payloads, on: connection)
            merged.note(snapshots, of: table, changed, triaged)
            // A transaction from refund history is stored in two tables, but counts as one record.
            if table != Tables.refunds { counts.add(changed, of: snapshots.count) }
            crashPoint(.tableMerged)
        }
        try writeSendAttempts(rows.sendAttempts, on: connection)
        counts.add(try writeAnswers(rows.answers, on: connection))
        counts.updated += try endUnlistedStatuses(rows, on: connection)
        counts.updated += try removeLeft(rows, on: connection)
        try writeArchive(
            rows.archive.filter { !merged.isKnownContent($0) },
            inserted: merged.inserted,
            on: connection
        )
        try QuotedIDs.store(rows, app: origin.app, on: connection)
        try QuotedIDs.store(tokensOf: merged.notWritten(among: rows.snapshots), app: origin.app, on: connection)
        if let listed = origin.listedTransactionID {
            try QuotedIDs.store(listedID: listed, ofAppTransactionsIn: rows, app: origin.app, on: connection)
        }
        if let order = origin.orderID {
            try QuotedIDs.store(rows, ofOrder: order, app: origin.app, on: connection)
        }
        try removeIssues(of: merged.replaced, on: connection)
        // A job with `changedSince` looks only at new notifications. A record that is accepted only now, by a replay, came
        // with an old one, so its customer has to be marked.
        if mode.rewritesHeldSnapshots, origin.namesChangedCustomers {
            try markChangedCustomers(merged.written(among: rows.snapshots), on: connection)
        }
        (counts.newlyRejected, counts.dismissed) = try writeRemarks(
            rows,
            issues: merged.issues(among: rows.issues),
            itemKey: itemKey,
            on: connection
        )
        return counts
    }

    /// Creates row types and looks up header numbers before the transaction begins.
    ///
    /// Both are cached, and the caches must not contain anything that was rolled back.
    func prepareSession(for rows: PageRows, on connection: borrowing PostgresConnection) throws {
        try Staging.prepare(for: rows, on: connection)
        guard mode.archives else { return }
        for payload in rows.archive {
            _ = try headers.number(of: payload.header, app: origin.app, on: connection)
        }
    }

    /// Merges the snapshots of one table, with their children; the new ones must already be inserted.
    private func merge(
        _ triaged: TriagedSnapshots,
        into table: Table,
        payloads: [[UInt8]: ArchivedPayload],
        on connection: borrowing PostgresConnection
    ) throws -> ChangedRecords {
        try keepSignatures(of: triaged.held, in: table, payloads: payloads, on: connection)
        var changed = ChangedRecords(new: Set(triaged.new.map { ExactText($0.snapshot.key) }))
        changed.inserted = changed.new
        var facts: [ExactText: [String]] = [:]
        for row in try replace(triaged.replacing, in: table, on: connection) {
            let key = ExactText(try row.text("key"))
            facts[key] = try row.facts
            if try row.bool("inserted") { changed.inserted.insert(key) } else { changed.updated.insert(key) }
        }
        var unlisted = triaged.unlisted
        if table == Tables.transactions, origin.listedTransactionID != nil {
            // Another page may have stored the same content meanwhile, without the ID. Then the candidate has not won.
            unlisted += triaged.replacing.map(\.snapshot.key).filter { key in
                !changed.inserted.contains(ExactText(key)) && !changed.updated.contains(ExactText(key))
            }
        }
        if !unlisted.isEmpty {
            _ = try connection.run(
                MergeSQL.fillListedID,
                [.integer(origin.app.rawValue), listedTransactionID, .textArray(unlisted.sorted())]
            )
        }
        try removeSignatureLocks(of: triaged.held.filter { !$0.isSignedAgain }, in: table, on: connection)
        if origin.isSecondReading, table == Tables.notifications {
            try markLate(changed.inserted.subtracting(changed.new), on: connection)
        }
        crashPoint(.tableStaged)
        // The lock is needed because another page may be about to replace these snapshots and their child rows.
        let locked = try lock(triaged.owners, in: table, on: connection)
        facts.merge(locked) { _, new in new }
        changed.rewritten = changed.updated.union(locked.keys)
        let written = changed.inserted.union(changed.rewritten)
        let winners = triaged.snapshots.filter { written.contains(ExactText($0.key)) }
        changed.leftOut = winners.flatMap { $0.leftOut(among: facts[ExactText($0.key)] ?? $0.addedFacts.keys.sorted()) }
        try complete(triaged.completing, in: table, &changed, on: connection)
        try replaceChildren(of: winners, updated: changed.rewritten, in: table, on: connection)
        return changed
    }

    /// Compares the snapshots of one table with the ledger's rows, in one query.
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
            rows: SnapshotIdentities(of: table)
                .rows(snapshots, hashes: hashes, issues: mode.rewritesHeldSnapshots ? issues : nil),
            answer: .binary
        )
        var triaged = TriagedSnapshots(snapshots: snapshots)
        var facts = HeldFacts(of: table)
        for row in found {
            let place = Int(try row.int64("place")) - 1
            let hashed = HashedSnapshot(snapshot: snapshots[place], hash: hashes[place])
            let mayWin = try row.bool("may_win")
            let isSignedAgain = try row.bool("is_signed_again")
            if try row.bool("is_new") {
                triaged.new.append(hashed)
            } else if mayWin {
                triaged.replacing.append(hashed)
            }
            if let held = try row.bytesOrNil("held_sha256"), mayWin || isSignedAgain,
                held != hashed.snapshot.payloadSHA256
            {
                triaged.held.append(
                    HeldRecord(snapshot: hashed.snapshot, heldSHA256: held, isSignedAgain: isSignedAgain)
                )
            }
            if try row.bool("owns_rows") { triaged.owners.append(hashed.snapshot) }
            if let held = try row.bytesOrNil("held_sha256"), !mayWin {
                // A row made from this same signature lacks one of its own facts only if somebody changed the row by hand. A replay
                // restores that fact, a crawl ignores it.
                let isHeld = held == hashed.snapshot.payloadSHA256
                let missing = facts.missing(in: try row.text("facts"), of: hashed.snapshot, onlyAdded: isHeld)
                if !missing.isEmpty { triaged.completing.append((hashed, missing)) }
            }
            let lacksListedID = try row.bool("lacks_listed_id")
            if lacksListedID { triaged.unlisted.append(hashed.snapshot.key) }
            if try row.bool("differs") { triaged.otherContent.insert(ExactText(hashed.snapshot.key)) }
        }
        return triaged
    }

    /// Locks the rows that still have the payload of one of the snapshots, until the transaction ends.
    ///
    /// - Returns: The keys of the locked rows, with their known facts.
    private func lock(
        _ snapshots: [Snapshot],
        in table: Table,
        on connection: borrowing PostgresConnection
    ) throws -> [ExactText: [String]] {
        guard !snapshots.isEmpty else { return [:] }
        let locked = try connection.run(
            MergeSQL.lockSnapshots(table),
            [.integer(origin.app.rawValue)],
            rows: SnapshotIdentities(of: table).rows(snapshots)
        )
        return Dictionary(
            try locked.map { (ExactText(try $0.text("key")), try $0.facts) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// Gives rows of newer snapshots the facts (``LedgerSchema/Table/facts``) that they lack and these snapshots have.
    private func complete(
        _ snapshots: [(hashed: HashedSnapshot, missing: [String])],
        in table: Table,
        _ changed: inout ChangedRecords,
        on connection: borrowing PostgresConnection
    ) throws {
        guard !snapshots.isEmpty else { return }
        let completed = try connection.run(
            MergeSQL.addFacts(table),
            [.integer(origin.app.rawValue), .bigint(origin.runNumber)],
            rows: Staging.rows(snapshots.map(\.hashed.row), of: Staging.hashed(table))
        )
        changed.completed = Set(try completed.map { ExactText(try $0.text("key")) })
        for (hashed, missing) in snapshots where changed.completed.contains(ExactText(hashed.snapshot.key)) {
            changed.leftOut += hashed.snapshot.issues(of: missing, signedDate: nil)
        }
    }

    /// Marks the customers of records that were accepted late, so that jobs with `changedSince` request them.
    ///
    /// These jobs may have processed the notification before.
    private func markChangedCustomers(
        _ snapshots: [Snapshot],
        on connection: borrowing PostgresConnection
    ) throws {
        let marks = snapshots.compactMap { snapshot -> Row? in
            guard snapshot.table == Tables.transactions || snapshot.table == Tables.renewals else { return nil }
            return [
                snapshot.cell("original_transaction_id"), snapshot.cell("app_transaction_id"),
                .timestamp(snapshot.signedDate),
            ]
        }
        _ = try connection.copyIn(
            "changed_customers",
            columns: ["transaction_id", "app_transaction_id", "signed_date"],
            rows: marks,
            constants: [("app_id", .integer(origin.app.rawValue))]
        )
    }

    /// Inserts in the order of the keys, so that two pages of new records do not deadlock.
    ///
    /// A record that another worker inserts at the same time must not cause an error: the server would log it with the record's key.
    ///
    /// - Parameters:
    ///   - new: Records that the triage did not find; afterwards those that were inserted.
    ///   - connection: Inside a transaction.
    /// - Returns: The snapshots of the others, which the ledger has now.
    /// - Throws: ``Postgres/PostgresError``.
    private func insert(
        _ new: inout [HashedSnapshot],
        into table: Table,
        on connection: borrowing PostgresConnection
    ) throws -> [Snapshot] {
        guard !new.isEmpty else { return [] }
        var constants: [(column: Column, cell: Cell)] = [
            (Column("app_id", .integer), .integer(origin.app.rawValue)),
            (Column("last_run_id", .bigint), .bigint(origin.runNumber)),
        ]
        if table == Tables.transactions {
            constants.append((Column("source", .text), .text(origin.stream.rawValue)))
            constants.append((Column("listed_transaction_id", .text), listedTransactionID))
        }
        if origin.isSecondReading, table == Tables.notifications {
            constants.append((Column("late_run_id", .bigint), .bigint(origin.runNumber)))
        }
        new.sort { $0.snapshot.key.utf8.lexicographicallyPrecedes($1.snapshot.key.utf8) }
        let inserted = try connection.run(
            MergeSQL.insert(into: table, constants: constants.map(\.column)),
            constants.map(\.cell),
            rows: Staging.rows(new.map(\.row), of: Staging.hashed(table))
        )
        guard inserted.count < new.count else { return [] }
        let keys = Set(try inserted.map { ExactText(try $0.text("key")) })
        let missed = new.filter { !keys.contains(ExactText($0.snapshot.key)) }.map(\.snapshot)
        new.removeAll { !keys.contains(ExactText($0.snapshot.key)) }
        return missed
    }

    /// Replaces the ledger's rows by snapshots that win, and inserts those that are new after all.
    ///
    /// - Returns: The columns of ``MergeSQL/newestWins(_:mode:)``.
    private func replace(
        _ candidates: [HashedSnapshot],
        in table: Table,
        on connection: borrowing PostgresConnection
    ) throws -> [PostgresRow] {
        guard !candidates.isEmpty else { return [] }
        var parameters: [Cell] = [.integer(origin.app.rawValue), .bigint(origin.runNumber)]
        if table == Tables.transactions { parameters += [.text(origin.stream.rawValue), listedTransactionID] }
        let changed = try connection.run(
            MergeSQL.newestWins(table, mode: mode),
            parameters,
            rows: Staging.rows(candidates.map(\.row), of: Staging.hashed(table))
        )
        return Array(changed)
    }

    private var listedTransactionID: Cell { origin.listedTransactionID.map(Cell.text) ?? .null }

    /// Replaces child rows together with their snapshot: removes the rows of older snapshots and inserts the rows
    /// of the winners.
    private func replaceChildren(
        of winners: [Snapshot],
        updated: Set<ExactText>,
        in table: Table,
        on connection: borrowing PostgresConnection
    ) throws {
        guard let kind = RecordKind(of: table), let ownerKind = kind.ownerKind else { return }
        // If only a snapshot's row was removed by hand, its old children are still there and conflict with the new
        // ones. If there are no new ones, a replay finds and removes the old ones.
        let parents = winners.filter { $0.children.contains { !$0.rows.isEmpty } }.map { ExactText($0.key) }
        let owners = updated.union(parents)
        if !owners.isEmpty {
            let arguments: [Cell] = [
                .integer(origin.app.rawValue), .textArray(owners.map(\.text).sorted()), .text(ownerKind),
            ]
            // Most owners have no children, so one question saves a statement for each table. No plan is kept, because
            // the tables of children are small in most ledgers, and a plan made for a small table must not be reused.
            if try connection.runOnce(MergeSQL.haveChildren(kind.children), arguments)[0].bool("found") {
                for child in kind.children {
                    _ = try connection.runOnce(MergeSQL.removeChildren(child), arguments)
                }
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

    /// Removes the field issues of replaced snapshots.
    ///
    /// The new snapshots add their own issues.
    ///
    /// Call this after all tables are merged. Otherwise two pages could deadlock: one has locked field issues and waits
    /// for rows of a table, the other has locked these rows and waits for the field issues.
    private func removeIssues(
        of replaced: [RecordKind: Set<ExactText>],
        on connection: borrowing PostgresConnection
    ) throws {
        for (kind, keys) in replaced.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where !keys.isEmpty {
            // Most ledgers have few field issues, and a plan made for few must not be reused.
            _ = try connection.runOnce(
                "DELETE FROM field_issues WHERE app_id = $1::integer AND kind = $2::text AND record_key = ANY ($3::text[])",
                [.integer(origin.app.rawValue), .text(kind.rawValue), .textArray(keys.map(\.text).sorted())]
            )
        }
    }

    /// Stores the run in notifications that entered Apple's history after their day was first read.
    ///
    /// Call it only for rows that `insert` did not write: those have the run already.
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

    /// The most bytes that are stored of a rejected record.
    ///
    /// This is also the largest size of an accepted record, so that a replay can accept every stored one.
    private static let longestReject = JWSVerifier.maximumNotificationBytes

    /// Writes field issues, rejects and unknown fields, always in this order and each sorted, because several workers
    /// may write the same ones.
    ///
    /// - Returns: The reason of each reject that is new to the ledger, and the number of rejects that are dismissed.
    private func writeRemarks(
        _ rows: PageRows,
        issues: [FieldIssue],
        itemKey: String,
        on connection: borrowing PostgresConnection
    ) throws -> (newlyRejected: [String], dismissed: Int) {
        try writeIssues(issues, on: connection)
        let rejects = try writeRejects(rows.rejected, itemKey: itemKey, on: connection)
        try writeDrift(rows.drift, on: connection)
        return rejects
    }

    private func writeIssues(_ issues: [FieldIssue], on connection: borrowing PostgresConnection) throws {
        let sorted = issues.sorted {
            ($0.kind.rawValue, $0.recordKey, $0.path) < ($1.kind.rawValue, $1.recordKey, $1.path)
        }
        for issue in sorted {
            _ = try connection.run(
                .storeIssue,
                [
                    "app": .integer(origin.app.rawValue), "kind": .text(issue.kind.rawValue),
                    "record_key": .text(issue.recordKey), "path": .text(issue.path), "found": .text(issue.found),
                    "signed_date": issue.signedDate.map(Cell.timestamp) ?? .null,
                ]
            )
        }
    }

    /// - Returns: The reason of each reject that is new to the ledger, and the number of rejects that are dismissed.
    private func writeRejects(
        _ rejected: [RejectedRecord],
        itemKey: String,
        on connection: borrowing PostgresConnection
    ) throws -> (newlyRejected: [String], dismissed: Int) {
        let quarantine = Quarantine(origin: origin)
        var newlyRejected: [String] = []
        var dismissed = 0
        for record in rejected.sorted(by: Quarantine.precedes) {
            let isKnown = try quarantine.knows(record, on: connection)
            let stored = try connection.run(
                .storeReject,
                [
                    "app": .integer(origin.app.rawValue), "job": .text(origin.job),
                    "stream": .text(origin.stream.rawValue), "item": .text(itemKey), "reason": .text(record.reason),
                    "detail": .text(record.detail), "hash": .bytea(record.sha256),
                    "raw": .bytea(Array(record.raw.prefix(Self.longestReject))), "run": .bigint(origin.runNumber),
                    "identity": .bytea(record.identity),
                ]
            )
            if try quarantine.isDismissed(record, on: connection) { dismissed += 1 }
            if !isKnown {
                try quarantine.remember(record, on: connection)
                newlyRejected.append(record.reason)
            }
            if let row = stored.first {
                let ids = IDScanner.ids(in: record.raw).union(IDScanner.ids(in: Array(record.detail.utf8)))
                try QuotedIDs.store(ids, of: .rejected, try row.text("record_id"), app: origin.app, on: connection)
            }
            crashPoint(.rejectFiled)
        }
        return (newlyRejected, dismissed)
    }

    private func writeDrift(_ drift: [SchemaDrift], on connection: borrowing PostgresConnection) throws {
        let groups = Dictionary(grouping: drift) { [$0.kind.rawValue, $0.path] }
        for (kindAndPath, seen) in groups.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            _ = try connection.run(
                .storeDrift,
                [
                    "app": .integer(origin.app.rawValue), "kind": .text(kindAndPath[0]), "path": .text(kindAndPath[1]),
                    "sample": .text(seen[0].sample), "count": .bigint(Int64(seen.count)),
                    "remark": SchemaDrift.remark(on: kindAndPath[1]).map { .text($0) } ?? .null,
                ]
            )
        }
    }
}

extension Snapshot {
    /// Issues about the known facts that this snapshot, now the ledger's, leaves out.
    fileprivate func leftOut(among facts: [String]) -> [FieldIssue] {
        guard !facts.isEmpty else { return [] }
        let own = Set(zip(table.columns, row).lazy.filter { $1 != .null }.map(\.0.name))
        return issues(of: facts.filter { !own.contains($0) }, signedDate: signedDate)
    }

    fileprivate func issues(of columns: [String], signedDate: Int64?) -> [FieldIssue] {
        table.facts.filter { columns.contains($0.column) }.map { fact in
            FieldIssue(
                kind: RecordKind.ofPayloads(in: table),
                recordKey: key,
                path: fact.field,
                found: FieldIssue.leftOut,
                signedDate: signedDate
            )
        }
    }
}

/// The facts that rows of the ledger lack, in the form of ``MergeSQL/facts(of:in:)``.
///
/// Most rows of a table have the same facts, so each list is read once.
private struct HeldFacts {
    private typealias Fact = (column: String, place: Int)

    private let facts: [Fact]
    /// For each list of facts in the ledger, the facts that are not in it.
    private var absent: [String: [Fact]] = [:]

    init(of table: Table) {
        let names = Set(table.facts.map(\.column))
        facts = table.columns.enumerated().filter { names.contains($1.name) }.map { ($1.name, $0) }
    }

    /// - Parameters:
    ///   - held: The facts of the ledger's row.
    ///   - snapshot: A snapshot of the same record that does not replace the row.
    ///   - onlyAdded: Whether only ``LedgerSchema/Snapshot/addedFacts`` count.
    /// - Returns: The columns of the facts that the snapshot has and the row lacks, in alphabetical order.
    mutating func missing(in held: String, of snapshot: Snapshot, onlyAdded: Bool) -> [String] {
        if absent[held] == nil {
            let known = Set(held.split(separator: ",").map(String.init))
            absent[held] = facts.filter { !known.contains($0.column) }
        }
        return (absent[held] ?? []).filter { fact in
            snapshot.addedFacts[fact.column] != nil || !onlyAdded && snapshot.row[fact.place] != .null
        }.map(\.column).sorted()
    }
}

extension PostgresRow {
    /// See ``MergeSQL/facts(of:in:)``.
    fileprivate var facts: [String] {
        get throws { try text("facts").split(separator: ",").map(String.init) }
    }
}
