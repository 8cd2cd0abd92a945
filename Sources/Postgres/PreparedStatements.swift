import LedgerTables

/// What one session remembers: its prepared statements by SQL text, the row types it made, a parameter buffer, and that it
/// ended.
///
/// A class, so that a borrowed ``PostgresConnection`` can remember; it never leaves its connection.
final class PreparedStatements {
    /// Set when the server said the session is over although the socket may still look open.
    var sessionEnded = false

    private struct Entry {
        let name: String
        /// Zero where only NULL was seen so far and the server inferred the type.
        let types: [UInt32]
        var lastUse: Int
    }

    struct Plan {
        let name: String
        /// The parameter types to prepare it with; `nil` when it is prepared already.
        let toPrepare: [UInt32]?
        let toDeallocate: [String]
    }

    private static let capacity = 200
    private var entries: [String: Entry] = [:]
    private var uses = 0
    private var names = 0
    /// By name.
    private var rowTypes: [String: RowType] = [:]
    private var encoder = CellEncoder(capacity: 1_024)

    /// Says under which name `sql` runs with `parameters`, and what must happen first.
    ///
    /// A NULL fits a parameter of any type, so rows that differ only in what is NULL share one statement.
    ///
    /// - Parameters:
    ///   - sql: One statement.
    ///   - parameters: Its parameters.
    ///   - hasRows: Whether rows follow as the last parameter; the statement names their type.
    /// - Returns: What to do before it runs.
    func plan(_ sql: String, _ parameters: [Cell], hasRows: Bool) -> Plan {
        uses += 1
        let known = entries[sql]
        var types = parameters.enumerated().map { place, cell in
            PostgresType(of: cell)?.rawValue ?? known.map { $0.types.count > place ? $0.types[place] : 0 } ?? 0
        }
        if hasRows { types.append(0) }
        if let known, known.types == types {
            entries[sql]?.lastUse = uses
            return Plan(name: known.name, toPrepare: nil, toDeallocate: [])
        }
        var stale: [String] = []
        if let known {
            stale.append(known.name)
            entries[sql] = nil
        } else if entries.count >= Self.capacity, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            stale.append(oldest.value.name)
            entries[oldest.key] = nil
        }
        names += 1
        return Plan(name: "s\(names)", toPrepare: types, toDeallocate: stale)
    }

    func remember(_ sql: String, name: String, types: [UInt32]) {
        entries[sql] = Entry(name: name, types: types, lastUse: uses)
    }

    func hasRowType(_ name: String) -> Bool { rowTypes[name] != nil }

    func rememberRowType(_ name: String, number: Int64, _ columns: [Column]) {
        rowTypes[name] = RowType(
            number: UInt32(truncatingIfNeeded: number),
            columns: columns.map { PostgresType(of: $0.type) }
        )
    }

    /// Lends the parameters as libpq wants them: count, values, lengths in bytes, formats (1 is binary).
    func withParameters<R>(
        _ parameters: [Cell],
        rows: RowArray?,
        _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> R
    ) throws(PostgresError) -> R {
        encoder.removeAll()
        var starts: [Int?] = []
        var lengths: [Int32] = []
        for cell in parameters {
            let start = encoder.bytes.count + 4
            try encoder.append(cell)
            starts.append(cell == .null ? nil : start)
            lengths.append(Int32(encoder.bytes.count - start))
        }
        if let rows {
            guard let type = rowTypes[rows.type] else { preconditionFailure("no session has made \(rows.type)") }
            let start = encoder.bytes.count + 4
            try encoder.append(rows.rows, of: type)
            starts.append(start)
            lengths.append(Int32(encoder.bytes.count - start))
        }
        let count = Int32(starts.count)
        let formats = [Int32](repeating: 1, count: starts.count)
        return unsafe encoder.bytes.withUnsafeBytes { buffer in
            var values = unsafe [UnsafePointer<CChar>?]()
            for start in starts {
                unsafe values.append(
                    start.flatMap { unsafe buffer.baseAddress?.advanced(by: $0).assumingMemoryBound(to: CChar.self) }
                )
            }
            return unsafe body(count, values, lengths, formats)
        }
    }
}
