import Platform

/// Writes cells in PostgreSQL's binary format into one reused buffer; each cell is preceded by its length in bytes.
///
/// Source: PostgreSQL manual, `COPY`, "Binary Format"; the types' `*send` functions.
package struct CellEncoder {
    package private(set) var bytes: [UInt8] = []

    package init(capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// - Throws: ``PostgresError`` for a cell that PostgreSQL cannot store.
    package mutating func append(_ cell: Cell) throws(PostgresError) {
        switch cell {
        case .null:
            append(Int32(-1))
        case .text(let text):
            try append(text: text)
        case .integer(let number):
            append(Int32(4))
            append(number)
        case .bigint(let number):
            append(Int32(8))
            append(number)
        case .boolean(let flag):
            append(Int32(1))
            bytes.append(flag ? 1 : 0)
        case .timestamp(let milliseconds):
            append(Int32(8))
            append(try microsecondsSince2000(unixMilliseconds: milliseconds))
        case .jsonb(let json):
            try append(length: json.count + 1)
            bytes.append(1)  // version of the jsonb wire format
            bytes.append(contentsOf: json)
        case .uuid(let uuid):
            guard uuid.count == 16 else {
                throw unsendable(.dataException, "a UUID has \(uuid.count) bytes; it must have 16")
            }
            append(Int32(16))
            bytes.append(contentsOf: uuid)
        case .textArray(let texts):
            try append(array: texts)
        case .bytea(let value):
            try append(length: value.count)
            bytes.append(contentsOf: value)
        }
    }

    mutating func append<Number: FixedWidthInteger>(_ number: Number) {
        bytes.append(addingCapacity: Number.bitWidth / 8) { output in
            for place in 1...Number.bitWidth / 8 {
                output.append(UInt8(truncatingIfNeeded: number >> Number(Number.bitWidth - 8 * place)))
            }
        }
    }

    package mutating func append(raw: [UInt8]) {
        bytes.append(contentsOf: raw)
    }

    private mutating func append(text: String) throws(PostgresError) {
        try append(length: text.utf8.count)
        let start = bytes.count
        var text = text
        text.withUTF8 { unsafe bytes.append(contentsOf: $0) }
        guard !containsNUL(from: start) else {
            throw PostgresError(
                .nulCharacter,
                .characterNotInRepertoire,
                "a text contains the character U+0000, which PostgreSQL cannot store"
            )
        }
    }

    /// One dimension, lower bound 1, no NULL among the elements.
    private mutating func append(array texts: [String]) throws(PostgresError) {
        let start = beginLength()
        append(Int32(texts.isEmpty ? 0 : 1))
        append(Int32(0))
        append(Int32(PostgresType.text.rawValue))
        if !texts.isEmpty {
            guard let count = Int32(exactly: texts.count) else {
                throw unsendable(.dataException, "an array has \(texts.count) elements, more than PostgreSQL takes")
            }
            append(count)
            append(Int32(1))
            for text in texts { try append(text: text) }
        }
        try endLength(from: start)
    }

    /// Reserves space for the length of the bytes that follow.
    ///
    /// - Returns: The argument of ``endLength(from:)``.
    mutating func beginLength() -> Int {
        append(Int32(0))
        return bytes.count
    }

    /// Writes the length of the bytes since ``beginLength()`` into the reserved space.
    mutating func endLength(from start: Int) throws(PostgresError) {
        let length = bytes.count - start
        try checkLength(length)
        for place in 1...4 {
            bytes[start - place] = UInt8(truncatingIfNeeded: length >> ((place - 1) * 8))
        }
    }

    private mutating func append(length: Int) throws(PostgresError) {
        try checkLength(length)
        append(Int32(length))
    }

    private func checkLength(_ length: Int) throws(PostgresError) {
        guard length <= CellEncoder.largestValue else {
            throw unsendable(.dataException, "a value has \(length) bytes; PostgreSQL takes at most 1 GiB")
        }
    }

    /// PostgreSQL's limit for one field, in bytes.
    private static let largestValue = 1 << 30

    private func containsNUL(from start: Int) -> Bool {
        unsafe bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return false }
            return unsafe memchr(base + start, 0, buffer.count - start) != nil
        }
    }
}

/// Converts UNIX milliseconds to PostgreSQL's microseconds since 2000-01-01 UTC.
private func microsecondsSince2000(unixMilliseconds: Int64) throws(PostgresError) -> Int64 {
    let (milliseconds, underflow) = unixMilliseconds.subtractingReportingOverflow(946_684_800_000)
    let (microseconds, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000)
    guard !underflow, !overflow else {
        throw unsendable(
            .datetimeFieldOverflow,
            "the moment \(unixMilliseconds) ms is out of range of timestamptz"
        )
    }
    return microseconds
}

private func unsendable(_ state: SQLState, _ message: String) -> PostgresError {
    PostgresError(.unsendableValue, state, message)
}
