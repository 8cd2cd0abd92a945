/// Reads one column of a CSV file: the list of IDs a job crawls.
///
/// With a column name the first record is the header and must have that name exactly once. Without one the first column
/// is read, and the first record is a header when its first cell begins with a letter or `_`, as no ID does.
///
/// Says nothing about whether a cell is an ID.
package struct IDColumnReader: Sendable {
    private let reader: CSVReader
    private let column: String?

    /// No ID is longer, whatever else may be wrong with it; in bytes.
    private static let longestCell = 1_024

    /// - Parameters:
    ///   - path: Of the file.
    ///   - column: The name in the header, compared byte for byte; `nil` for the first column.
    package init(path: String, column: String?) {
        reader = CSVReader(path: path)
        self.column = column
    }

    /// Calls `body` for each row that is not blank; a row too short to have the column counts as an empty cell.
    ///
    /// - Parameter body: Gets the line the row begins in, from 1, and the cell without spaces and tabs around it.
    /// - Throws: ``CSVError``; what `body` throws.
    package func forEachCell(_ body: (_ line: Int, _ text: String) throws -> Void) throws {
        var place: Int?
        try reader.forEachRecord { record in
            if let place {
                try read(record, place, body)
                return
            }
            if let column {
                place = try find(column, in: record)
            } else {
                place = 0
                try checkDelimiter(record)
                if !isHeader(record.bytes(0)) { try read(record, 0, body) }
            }
        }
        guard place != nil else { throw CSVError.noRecord(path: reader.path) }
    }

    private func read(
        _ record: borrowing CSVRecord,
        _ place: Int,
        _ body: (_ line: Int, _ text: String) throws -> Void
    ) throws {
        let cell = place < record.count ? trimmed(record.bytes(place)) : []
        guard cell.count <= Self.longestCell else {
            throw CSVError.fieldTooLong(path: reader.path, line: record.line, limitInBytes: Self.longestCell)
        }
        try body(record.line, String(decoding: cell, as: UTF8.self))
    }

    private func find(_ column: String, in header: borrowing CSVRecord) throws(CSVError) -> Int {
        var places: [Int] = []
        for place in 0..<header.count where trimmed(header.bytes(place)).elementsEqual(column.utf8) {
            places.append(place)
        }
        if places.count == 1 { return places[0] }
        guard places.isEmpty else { throw .ambiguousColumn(path: reader.path, name: column) }
        try checkDelimiter(header)
        var found: [String] = []
        for place in 0..<header.count { found.append(header.text(place)) }
        throw .missingColumn(path: reader.path, name: column, found: found)
    }

    /// A file with another delimiter looks like one with a single column.
    private func checkDelimiter(_ record: borrowing CSVRecord) throws(CSVError) {
        guard record.count == 1 else { return }
        let cell = trimmed(record.bytes(0))
        for delimiter: Character in [";", "\t", "|"] where cell.contains(where: { $0 == delimiter.asciiValue }) {
            throw .wrongDelimiter(path: reader.path, line: record.line, found: delimiter)
        }
    }
}

private func isHeader(_ cell: ArraySlice<UInt8>) -> Bool {
    let first = String(decoding: trimmed(cell), as: UTF8.self).unicodeScalars.first
    return first.map { $0.properties.isAlphabetic || $0 == "_" } ?? false
}

private func trimmed(_ cell: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    guard let first = cell.firstIndex(where: { !isBlank($0) }), let last = cell.lastIndex(where: { !isBlank($0) })
    else { return [] }
    return cell[first...last]
}
