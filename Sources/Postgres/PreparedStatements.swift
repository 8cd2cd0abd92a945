/// The state of one session: prepared statements by SQL text, row types, a parameter buffer, the watch of its transactions, and
/// whether it has ended.
///
/// A class, so that a borrowed ``PostgresConnection`` can change it. It never leaves its connection.
final class PreparedStatements {
    /// Whether the server reported the end of the session; the socket can still be open then.
    var sessionEnded = false
    var watch: (any TransactionWatch)?

    private struct Entry {
        let name: String
        /// Zero for a parameter that was always NULL, whose type the server inferred.
        let types: [UInt32]
        var lastUse: Int
    }

    struct Plan {
        let name: String
        /// The parameter types for preparing it; `nil` when it is prepared already.
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

    /// Returns the statement name of `sql` with `parameters`, and what must be done before it can run.
    ///
    /// A NULL fits a parameter of any type, so calls that differ only in NULLs use the same statement.
    ///
    /// - Parameters:
    ///   - sql: One statement.
    ///   - hasRows: Whether the last parameter is an array of rows, whose type is in the statement.
    /// - Returns: The name, and what to do before the statement runs.
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

    /// Calls the closure with the parameters in libpq's form: count, values, lengths in bytes, formats (1 is binary).
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
            guard let type = rowTypes[rows.type] else { preconditionFailure("this session has no type \(rows.type)") }
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
