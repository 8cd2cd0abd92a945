import AppStoreModel
import Ledger
import LedgerSchema
import Postgres
import Streams

/// Rows as `Normalize` would make them.
enum Rows {
    static let signedDate: Int64 = 1_779_999_999_000

    static func row(of table: Table, _ cells: [String: Cell]) -> Row {
        table.columns.map { cells[$0.name] ?? .null }
    }

    static func snapshot(
        _ table: Table,
        _ key: String,
        signed: Int64 = signedDate,
        hash: UInt8 = 1,
        contentDigest: [UInt8]? = nil,
        cells: [String: Cell] = [:],
        isRevoked: Bool = false,
        children: [ChildRows] = []
    ) -> Snapshot {
        let sha256 = [UInt8](repeating: hash, count: 32)
        var all: [String: Cell] = [
            table.key[0]: .text(key), "signed_date": .timestamp(signed), "payload_sha256": .bytea(sha256),
            "payload": .jsonb(Array("{}".utf8)),
        ]
        if isRevoked { all["revocation_date"] = .timestamp(signed) }
        all.merge(cells) { _, new in new }
        return Snapshot(
            table: table,
            key: key,
            signedDate: signed,
            isRevoked: isRevoked,
            payloadSHA256: sha256,
            contentDigest: contentDigest ?? sha256 + Array("\(signed)".utf8),
            row: row(of: table, all),
            children: children
        )
    }

    static func transaction(
        _ id: String,
        signed: Int64 = signedDate,
        hash: UInt8 = 1,
        product: String = "gold",
        isRevoked: Bool = false,
        children: [ChildRows] = []
    ) -> Snapshot {
        snapshot(
            Tables.transactions,
            id,
            signed: signed,
            hash: hash,
            cells: ["product_id": .text(product)],
            isRevoked: isRevoked,
            children: children
        )
    }

    static func items(of owner: String, kind: String = "transaction", skus: [String]) -> ChildRows {
        ChildRows(
            table: Tables.advancedCommerceItems,
            rows: skus.enumerated().map { position, sku in
                row(
                    of: Tables.advancedCommerceItems,
                    [
                        "owner_kind": .text(kind), "owner_key": .text(owner), "position": .integer(Int32(position)),
                        "sku": .text(sku),
                    ]
                )
            }
        )
    }

    static func attempt(_ uuid: String, _ date: Int64, _ result: String) -> Row {
        row(
            of: Tables.notificationSendAttempts,
            ["notification_uuid": .text(uuid), "attempt_date": .timestamp(date), "send_attempt_result": .text(result)]
        )
    }

    static func archived(
        _ kind: RecordKind,
        _ key: String,
        signed: Int64 = signedDate,
        payload: String,
        header: String = "eyJhbGciOiJFUzI1NiJ9",
        hash: UInt8 = 1
    ) -> ArchivedPayload {
        ArchivedPayload(
            kind: kind,
            recordKey: key,
            signedDate: signed,
            header: Array(header.utf8),
            payload: Array(payload.utf8),
            payloadSHA256: [UInt8](repeating: hash, count: 32),
            signature: [UInt8](repeating: 7, count: 64)
        )
    }

    static func rejected(_ raw: String, reason: String = "signature", hash: UInt8 = 1) -> RejectedRecord {
        RejectedRecord(
            reason: reason,
            detail: "It is not what Apple signed.",
            raw: Array(raw.utf8),
            sha256: [UInt8](repeating: hash, count: 32)
        )
    }

    /// A page like Apple's fullest: twenty transactions, their archive, and one of everything odd.
    static func fullPage(signed: Int64 = signedDate, hash: UInt8 = 1, prefix: String = "4") -> PageRows {
        var rows = PageRows()
        for number in 10..<30 {
            let key = "\(prefix)\(number)"
            let children = [items(of: key, skus: ["a", "b"])]
            rows.snapshots.append(transaction(key, signed: signed, hash: hash, children: children))
            rows.archive.append(archived(.transaction, key, payload: "{\"n\":\(key)}", hash: hash))
        }
        rows.snapshots.append(snapshot(Tables.renewals, "\(prefix)10", signed: signed, hash: hash))
        rows.snapshots.append(snapshot(Tables.notifications, "uuid-\(prefix)", signed: signed, hash: hash))
        rows.sendAttempts = [attempt("uuid-\(prefix)", 1_000, "SUCCESS")]
        rows.rejected = [rejected("a.b.c")]
        rows.issues = [
            FieldIssue(kind: .transaction, recordKey: "\(prefix)10", path: "price", found: "x", signedDate: signed)
        ]
        return rows
    }
}

extension PageRows {
    init(_ snapshots: Snapshot...) {
        self.init()
        self.snapshots = snapshots
    }
}

extension TestLedger {
    func page(
        _ rows: PageRows,
        of item: WorkItem,
        for holder: LeaseHolder,
        cursor: String? = "C1",
        isLast: Bool = false,
        completeUntil: UnixMilliseconds? = nil,
        requests: Int = 1,
        readAt: UnixMilliseconds? = nil,
        isListed: Bool = true
    ) -> PageCommit {
        PageCommit(
            item: item,
            holder: holder,
            rows: rows,
            origin: RowOrigin(
                app: app,
                job: holder.job,
                run: holder.run,
                stream: item.stream,
                listedTransactionID: isListed ? item.key : nil,
                readAt: readAt
            ),
            cursor: cursor,
            isLast: isLast,
            completeUntil: completeUntil,
            requests: requests
        )
    }

    /// Commits `rows` as the next page of `item` and moves the item on.
    @discardableResult
    func commit(_ rows: PageRows, of item: inout WorkItem, for holder: LeaseHolder) async throws -> RowCounts? {
        let counts = try await ledger.commit(page(rows, of: item, for: holder))
        item.pageSequence += 1
        return counts
    }
}

extension RowCounts {
    init(new: Int = 0, updated: Int = 0, unchanged: Int = 0, newlyRejected: [String] = []) {
        self.init()
        self.new = new
        self.updated = updated
        self.unchanged = unchanged
        self.newlyRejected = newlyRejected
    }
}
