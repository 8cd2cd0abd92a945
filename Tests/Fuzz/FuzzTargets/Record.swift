import AppStoreModel
import Hashing
import LedgerSchema
import Normalize
import Postgres
import SignedData
import Streams
import StrictJSON

extension FuzzTarget {
    /// The payload of a signed record: any payload becomes rows that PostgreSQL accepts, or a rejection.
    ///
    /// The first byte chooses the history. What follows is the payload's JSON; for notifications, send attempts may
    /// come before it, ended by a line feed.
    static let record = FuzzTarget(name: "record", longestInput: 4_096) { input in
        let store = try FuzzedStore.shared()
        var reader = InputReader(input)
        let choice = Int(reader.byte())
        let text = reader.remaining()
        let rows: PageRows
        switch choice % 4 {
        case 0, 1:
            let jws = try store.issuer.sign(payload: text)
            rows = store.normalize([choice % 4 == 0 ? .transaction(jws: jws) : .refund(jws: jws)], .transactionHistory)
        case 2:
            rows = try store.notification(text)
        default:
            let jws = try store.issuer.sign(payload: text)
            rows = Normalizer.normalize(
                store.recordVerifier.verify(anyKind: jws, isRefund: choice & 4 != 0, now: FuzzedStore.now)
            )
        }
        try rows.check()
        try promise(
            !rows.snapshots.isEmpty || !rows.rejected.isEmpty,
            "a record is neither loaded nor rejected"
        )
    }
}

extension FuzzedStore {
    fileprivate func normalize(_ records: [PageRecord], _ stream: StreamName) -> PageRows {
        Normalizer.normalize(
            recordVerifier.verify(
                Page(records: records, cursor: nil, hasMore: false),
                from: stream,
                item: "1",
                now: Self.now
            )
        )
    }

    /// A notification of the payload, or one that quotes the payload as its transaction and its renewal.
    fileprivate func notification(_ text: [UInt8]) throws -> PageRows {
        let parts = text.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false).map(Array.init)
        let attempts = parts.count == 2 ? (try? StrictJSON.scan(parts[0]))?.array ?? [] : []
        let payload = parts[parts.count - 1]
        let jws = try issuer.sign(payload: payload)
        let data = #"{"bundleId":"\#(Self.bundleId)","environment":"Production","appAppleId":1234567890"#
        let quoting = """
            {"notificationUUID":"11111111-2222-3333-4444-555555555555","notificationType":"DID_RENEW",\
            "signedDate":\(Self.now.rawValue),"data":\(data),"signedTransactionInfo":"\(jws)","signedRenewalInfo":"\(jws)"}}
            """
        let records = [jws, try issuer.sign(payload: Array(quoting.utf8))]
        return normalize(records.map { .notification(jws: $0, sendAttempts: attempts) }, .notificationHistory)
    }
}

extension PageRows {
    /// Every row has its table's cells, and PostgreSQL's wire format takes each of them.
    fileprivate func check() throws {
        for snapshot in snapshots {
            try check([snapshot.row], of: snapshot.table)
            for child in snapshot.children { try check(child.rows, of: child.table) }
        }
        try check(sendAttempts, of: Tables.notificationSendAttempts)
        for rejected in rejected {
            try promise(rejected.detail.unicodeScalars.allSatisfy(\.isPlain), "a reason holds a control character")
            try promise(SHA256.digest(of: rejected.raw) == rejected.sha256, "a rejected record has another's hash")
        }
        for drift in drift { try checkText([drift.kind.rawValue, drift.path, drift.sample]) }
        for issue in issues { try checkText([issue.kind.rawValue, issue.recordKey, issue.path, issue.found]) }
    }

    private func check(_ rows: [Row], of table: Table) throws {
        var encoder = try BinaryCopyEncoder(width: table.columns.count)
        for row in rows {
            try promise(row.count == table.columns.count, "a row of \(table.name) has \(row.count) cells")
            do { try encoder.append(row) } catch {
                throw BrokenPromise(description: "PostgreSQL would refuse a row of \(table.name): \(error)")
            }
            for case .jsonb(let json) in row {
                try promise((try? StrictJSON.parse(json)) != nil, "a jsonb cell of \(table.name) is not strict JSON")
            }
            for case .timestamp(let moment) in row {
                // The range of timestamptz, in milliseconds: 4714 BC to the year 294276.
                try promise(
                    (-210_866_803_200_000..<9_224_318_016_000_000).contains(moment),
                    "\(table.name) would hold the moment \(moment)"
                )
            }
        }
    }

    private func checkText(_ texts: [String]) throws {
        try promise(!texts.contains { $0.utf8.contains(0) }, "a remark holds U+0000")
    }
}

extension Unicode.Scalar {
    fileprivate var isPlain: Bool { properties.generalCategory != .control }
}
