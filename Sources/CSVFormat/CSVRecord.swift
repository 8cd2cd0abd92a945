/// One row of a CSV file; its buffer is reused for the next row.
package struct CSVRecord {
    /// The line in which the record begins, from 1.
    ///
    /// A record with line feeds in quotes has several lines.
    package internal(set) var line = 1
    /// Whether the end of the file ends the record, and no line end: the last cell can be cut off.
    package internal(set) var isEndedByFile = false
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    private var nulls: Set<Int> = []

    /// The number of cells.
    package var count: Int { ends.count }

    /// Whether a cell is empty and was not quoted, which is how ``CSVWriter`` writes NULL.
    package func isNull(_ column: Int) -> Bool { nulls.contains(column) }

    /// The bytes of a cell, quotes removed; UTF-8.
    package func bytes(_ column: Int) -> ArraySlice<UInt8> {
        bytes[(column == 0 ? 0 : ends[column - 1])..<ends[column]]
    }

    package func text(_ column: Int) -> String {
        String(decoding: bytes(column), as: UTF8.self)
    }

    var byteCount: Int { bytes.count }

    mutating func append(_ cell: some Collection<UInt8>, isNull: Bool) {
        if isNull { nulls.insert(count) }
        bytes.append(contentsOf: cell)
        ends.append(bytes.count)
    }

    mutating func removeAll() {
        isEndedByFile = false
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        nulls.removeAll(keepingCapacity: true)
    }
}
