import LedgerTables
import Postgres

extension RecordWriter {
    /// Takes out what belongs to erased customers, and holds off erasures until the transaction ends.
    ///
    /// - Parameters:
    ///   - rows: One page, or the batch of a replay.
    ///   - connection: Inside the transaction that is to write the rows.
    /// - Returns: What may be stored, and how many records may not.
    /// - Throws: ``Postgres/PostgresError``; the transaction has then failed.
    func admit(
        _ rows: PageRows,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> (rows: PageRows, withheld: Int) {
        guard let tombstones = try Tombstones.hold(origin.app, on: connection) else { return (rows, 0) }
        let batch = IdentifiedRows(rows)
        let withheld = WithheldRecords(of: batch, erased: try tombstones.erased(among: batch.ids, on: connection))
        try tombstones.add(withheld.learned, on: connection)
        return (withheld.kept, withheld.count)
    }
}
