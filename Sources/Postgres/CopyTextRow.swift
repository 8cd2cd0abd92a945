/// Splits the rows of ``PostgresConnection/copyOut(_:_:)`` into cells, in one reused buffer.
///
/// Source: PostgreSQL manual, `COPY`, "Text Format".
package struct CopyTextRow {
    private var cell: [UInt8] = []

    package init() {}

    /// Calls `body` for each cell of `line`.
    ///
    /// - Parameters:
    ///   - line: The bytes of one row. A line feed at its end is not part of the last cell.
    ///   - body: Gets the index of the cell, from 0, and its bytes, which are valid during the call; `nil` is NULL.
    package mutating func forEachCell(
        of line: Span<UInt8>,
        _ body: (Int, Span<UInt8>?) throws -> Void
    ) rethrows {
        var end = line.count
        if end > 0, line[end - 1] == UInt8(ascii: "\n") { end -= 1 }
        var column = 0
        var start = 0
        while true {
            var stop = start
            var isEscaped = false
            while stop < end, line[stop] != UInt8(ascii: "\t") {
                if line[stop] == UInt8(ascii: "\\") { isEscaped = true }
                stop += 1
            }
            if !isEscaped {
                try body(column, line.extracting(start..<stop))
            } else if stop - start == 2, line[start + 1] == UInt8(ascii: "N") {
                try body(column, nil)
            } else {
                unescape(line, start, stop)
                try body(column, cell.span)
            }
            guard stop < end else { return }
            start = stop + 1
            column += 1
        }
    }

    private mutating func unescape(_ line: Span<UInt8>, _ start: Int, _ stop: Int) {
        cell.removeAll(keepingCapacity: true)
        var index = start
        while index < stop {
            var byte = line[index]
            if byte == UInt8(ascii: "\\"), index + 1 < stop {
                index += 1
                byte = unescaped(line[index])
            }
            cell.append(byte)
            index += 1
        }
    }
}

private func unescaped(_ letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    case UInt8(ascii: "v"): 0x0B
    default: letter
    }
}
