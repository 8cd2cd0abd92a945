import LedgerTables

/// What one session remembers: its prepared statements by SQL text, a parameter buffer, and that it ended.
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
    private var encoder = CellEncoder(capacity: 1_024)

    /// Says under which name `sql` runs with `parameters`, and what must happen first.
    ///
    /// A NULL fits a parameter of any type, so rows that differ only in what is NULL share one statement.
    func plan(_ sql: String, _ parameters: [Cell]) -> Plan {
        uses += 1
        let known = entries[sql]
        let types = parameters.enumerated().map { place, cell in
            PostgresType(of: cell)?.rawValue ?? known.map { $0.types.count > place ? $0.types[place] : 0 } ?? 0
        }
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

    /// Lends the parameters as libpq wants them: count, values, lengths in bytes, formats (1 is binary).
    func withParameters<R>(
        _ parameters: [Cell],
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
        let formats = [Int32](repeating: 1, count: parameters.count)
        return unsafe encoder.bytes.withUnsafeBytes { buffer in
            var values = unsafe [UnsafePointer<CChar>?]()
            for start in starts {
                unsafe values.append(
                    start.flatMap { unsafe buffer.baseAddress?.advanced(by: $0).assumingMemoryBound(to: CChar.self) }
                )
            }
            return unsafe body(Int32(parameters.count), values, lengths, formats)
        }
    }
}
