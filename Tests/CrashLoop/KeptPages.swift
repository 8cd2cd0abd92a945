import LedgerSchema
import Postgres
import TestSupport

/// Checks that all records on the pages before a stored cursor are in the ledger (invariant I5), and which records were
/// rejected (I11).
struct KeptPages {
    /// The content of the ledger at one moment.
    struct Snapshot: Sendable {
        var cursors: [(item: String, cursor: String)] = []
        /// The latest date in each record, by kind and key: ``SimulatedStore/ServedRecord/changed``.
        var changed: [String: Int64] = [:]
        var rejected: Set<String> = []

        init(_ book: LedgerBook) async throws {
            self = try await book.with { connection in
                try connection.transaction(.readOnlySnapshot) { connection in try Snapshot(connection) }
            }
        }

        private init(_ connection: borrowing PostgresConnection) throws {
            for row in try connection.run(
                "SELECT stream || ' ' || item_key AS item, cursor FROM crawl_items WHERE cursor IS NOT NULL"
            ) {
                cursors.append((try row.text("item"), try row.text("cursor")))
            }
            let purchase = "greatest(purchase_date, revocation_date)"
            for (kind, table, key, date) in [
                ("transaction", "transactions", "transaction_id", purchase),
                ("refund", "refunds", "transaction_id", purchase),
                ("notification", "notifications", "notification_uuid", "signed_date"),
            ] {
                for row in try connection.run(
                    "SELECT \(key) AS key, (extract(epoch FROM \(date)) * 1000)::bigint AS ms FROM \(table)"
                ) {
                    changed["\(kind) \(try row.text("key"))"] = try row.int64("ms")
                }
            }
            for row in try connection.run("SELECT encode(sha256, 'hex') AS hash FROM rejected_records") {
                rejected.insert(try row.text("hash"))
            }
        }

        /// Whether all records of the page are loaded in this state or a newer one, with any signature, or rejected.
        func holds(_ page: SimulatedStore.ServedPage) -> Bool {
            page.records.allSatisfy { record in
                if let bad = record.bad { return rejected.contains(bad) }
                return changed["\(record.kind) \(record.key)", default: .min] >= record.changed
            }
        }
    }

    /// The pages by their cursor.
    ///
    /// A page that is requested again can have the same cursor.
    private var pages: [String: [SimulatedStore.ServedPage]] = [:]
    private(set) var count = 0
    /// The SHA-256 of all records that must be rejected.
    private(set) var badHashes: Set<String> = []
    private(set) var badKeys: Set<String> = []
    /// The hashes of each badly signed notification, which are kept because its page's cursor is removed with its window.
    private var badNotifications: [String: Set<String>] = [:]

    mutating func add(_ served: [SimulatedStore.ServedPage]) {
        count += served.count
        for page in served {
            if let next = page.next { pages[next, default: []].append(page) }
            for record in page.records {
                guard let bad = record.bad else { continue }
                badHashes.insert(bad)
                badKeys.insert(record.key)
                if record.kind == "notification" { badNotifications[record.key, default: []].insert(bad) }
            }
        }
    }

    /// After all windows were read: a sentence when a badly signed notification was dropped instead of rejected.
    func dropped(from snapshot: Snapshot) -> [String] {
        let dropped = badNotifications.filter { $0.value.isDisjoint(with: snapshot.rejected) }.keys.sorted()
        guard !dropped.isEmpty else { return [] }
        return ["I11: \(dropped.count) bad notifications were not rejected: \(dropped.prefix(3))"]
    }

    /// A sentence for each invariant that the snapshot violates.
    func broken(by snapshot: Snapshot) -> [String] {
        var sentences: [String] = []
        for (item, cursor) in snapshot.cursors {
            var next: String? = cursor
            var seen: Set<String> = []
            while let cursor = next, seen.insert(cursor).inserted {
                guard let servings = pages[cursor] else {
                    sentences.append("I5: \(item) has a cursor no page gave")
                    break
                }
                guard let kept = servings.first(where: snapshot.holds) else {
                    let missing = servings[0].records.filter { record in
                        record.bad.map { !snapshot.rejected.contains($0) }
                            ?? (snapshot.changed["\(record.kind) \(record.key)", default: .min] < record.changed)
                    }
                    let names = missing.prefix(3).map { "\($0.kind) \($0.key)\($0.bad == nil ? "" : " (bad)")" }
                    sentences.append("I5: the cursor of \(item) is ahead of \(missing.count) records: \(names)")
                    break
                }
                next = kept.asked
            }
        }
        let strange = snapshot.rejected.subtracting(badHashes)
        if !strange.isEmpty { sentences.append("I11: \(strange.count) records were rejected that were good") }
        return sentences
    }
}
