import AppStoreModel
import LedgerSchema
import Postgres
import StrictJSON

extension RecordWriter {
    /// Archives the signed payloads of a page.
    ///
    /// Marks archived payloads that refund history also returned.
    ///
    /// - Parameters:
    ///   - payloads: The payloads, each once.
    ///   - inserted: Keys of the records that were new to the ledger, by kind.
    ///   - connection: Inside the transaction that inserted them.
    /// - Throws: ``Postgres/PostgresError``.
    func writeArchive(
        _ payloads: [ArchivedPayload],
        inserted: [RecordKind: Set<ExactText>],
        on connection: borrowing PostgresConnection
    ) throws {
        guard !payloads.isEmpty, mode.archives else { return }
        let numbers = try payloads.map { try headers.number(of: $0.header, app: origin.app, on: connection) }
        var batchHeaders: [(text: [UInt8], number: Int32)] = []
        for (payload, number) in zip(payloads, numbers) where !batchHeaders.contains(where: { $0.number == number }) {
            batchHeaders.append((payload.header, number))
        }
        let rows = { (places: [Int]) -> [Row] in
            places.map { place in
                let payload = payloads[place]
                let bytes =
                    payload.kind.nestsRecords
                    ? HeaderSplice.shorten(payload.payload, headers: batchHeaders) : payload.payload
                return archiveIdentity(of: payload)
                    + [.integer(numbers[place]), .bytea(bytes), .bytea(payload.signature)]
            }
        }
        var (new, existing) = try triage(payloads, inserted: inserted, on: connection)
        let app = Cell.integer(origin.app.rawValue)
        if !new.isEmpty {
            let stored = try connection.run(
                MergeSQL.newArchive,
                [app],
                rows: Staging.rows(rows(new), of: Staging.archive)
            )
            // Another worker has archived some meanwhile, perhaps without the mark that refund history returned them.
            if stored.affected < new.count { existing += new }
        }
        if !existing.isEmpty {
            _ = try connection.run(MergeSQL.archive, [app], rows: Staging.rows(rows(existing), of: Staging.archive))
        }
    }

    /// The places of the payloads to insert, in the order of the archive's key, and of those that the archive may have.
    ///
    /// If a record is new to the ledger, the archive has no payloads of it, except when a replay restores the record's
    /// row, or when someone removed only the row by hand.
    private func triage(
        _ payloads: [ArchivedPayload],
        inserted: [RecordKind: Set<ExactText>],
        on connection: borrowing PostgresConnection
    ) throws -> (new: [Int], existing: [Int]) {
        var new: [Int] = []
        var unclear: [Int] = []
        for (place, payload) in payloads.enumerated() {
            let isInserted = inserted[payload.kind]?.contains(ExactText(payload.recordKey)) ?? false
            if isInserted, !mode.rewritesHeldSnapshots { new.append(place) } else { unclear.append(place) }
        }
        var existing: [Int] = []
        if !unclear.isEmpty {
            let found = try connection.run(
                MergeSQL.archiveTriage,
                [.integer(origin.app.rawValue)],
                rows: Staging.rows(unclear.map { archiveIdentity(of: payloads[$0]) }, of: Staging.archiveIdentities),
                answer: .binary
            )
            for row in found {
                let place = unclear[Int(try row.int64("place")) - 1]
                if try row.bool("is_new") { new.append(place) } else { existing.append(place) }
            }
        }
        new.sort { payloads[$0].precedes(payloads[$1]) }
        return (new, existing)
    }

    /// The cells of ``Staging/archiveIdentities``.
    private func archiveIdentity(of payload: ArchivedPayload) -> Row {
        [
            .text(payload.kind.rawValue), .text(payload.recordKey), .timestamp(payload.signedDate),
            .bytea(payload.payloadSHA256), .boolean(origin.returnsRefunds && payload.kind == .transaction),
        ]
    }
}

extension ArchivedPayload {
    /// The order of the archive's key.
    fileprivate func precedes(_ other: Self) -> Bool {
        if kind != other.kind {
            return kind.rawValue.utf8.lexicographicallyPrecedes(other.kind.rawValue.utf8)
        }
        if recordKey != other.recordKey { return recordKey.utf8.lexicographicallyPrecedes(other.recordKey.utf8) }
        if signedDate != other.signedDate { return signedDate < other.signedDate }
        return payloadSHA256.lexicographicallyPrecedes(other.payloadSHA256)
    }
}
