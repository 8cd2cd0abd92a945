import Basics

/// Reads one column of a CSV file: the list of IDs of a job.
///
/// With a column name, the first record is the header and must contain that name exactly once. Without a name, the first
/// column is read, and the first record is a header when its first cell begins with a letter or `_`, because no ID does.
///
/// No row may have more filled cells than the first record has cells: an ID with separators, such as `430,000,000` without quotes, would
/// become another ID. It does not check whether a cell is an ID.
package struct IDColumnReader: Sendable {
    private let reader: CSVReader
    private let column: String?

    /// In bytes.
    ///
    /// No ID is longer.
    package static let longestID = 1_024

    /// - Parameters:
    ///   - path: The file.
    ///   - column: The name in the header, compared byte for byte; `nil` for the first column.
    ///   - longestCell: The most bytes of any cell of the file.
    package init(path: String, column: String?, longestCell: LongestCell = .text) {
        reader = CSVReader(path: path, longestCell: longestCell)
        self.column = column
    }

    /// Calls `body` for each row that is not blank.
    ///
    /// In a row without the column, the cell is empty.
    ///
    /// - Parameters:
    ///   - tooWide: Gets the error of a row with more filled cells than the first one, and its line; by default it is thrown.
    ///   - body: Gets the line in which the row begins, from 1, and the cell without the blanks around it.
    /// - Throws: ``CSVError``; the errors of `tooWide` and `body`.
    package func forEachCell(
        tooWide: (_ line: Int, CSVError) throws -> Void = { throw $1 },
        _ body: (_ line: Int, _ text: String) throws -> Void
    ) throws {
        var place: Int?
        var columns = 0
        try reader.forEachRecord { record in
            if isBlank(record) { return }
            if let place {
                if let error = widthError(of: record, columns) {
                    try tooWide(record.line, error)
                } else {
                    try read(record, place, body)
                }
                return
            }
            columns = record.count
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

    /// Calls `body` for each row that is not blank, with the first of several columns in which it has something.
    ///
    /// The first record is the header, which must contain each name exactly once.
    ///
    /// - Parameters:
    ///   - columns: At least one name.
    ///   - tooWide: As in ``forEachCell(tooWide:_:)``.
    ///   - body: Gets the line in which the row begins, from 1, the place of the column in `columns`, and the cell without the
    ///     blanks around it; the first column and an empty cell if the row has nothing in any.
    /// - Throws: ``CSVError``; the errors of `tooWide` and `body`.
    package func forEachFirstCell(
        of columns: [String],
        tooWide: (_ line: Int, CSVError) throws -> Void = { throw $1 },
        _ body: (_ line: Int, _ column: Int, _ cell: ArraySlice<UInt8>) throws -> Void
    ) throws {
        var places: [Int] = []
        var width = 0
        try reader.forEachRecord { record in
            if isBlank(record) { return }
            guard width > 0 else {
                width = record.count
                places = try columns.map { try find($0, in: record) }
                return
            }
            if let error = widthError(of: record, width) { return try tooWide(record.line, error) }
            for (column, place) in places.enumerated() where place < record.count {
                let cell = trimmed(record.bytes(place))
                if !cell.isEmpty { return try body(record.line, column, cell) }
            }
            try body(record.line, 0, [])
        }
        guard width > 0 else { throw CSVError.noRecord(path: reader.path) }
    }

    /// The names in the first record; empty for a file without a record.
    ///
    /// - Throws: ``CSVError``.
    package func header() throws -> [String] {
        struct Header: Error { let names: [String] }
        do {
            try reader.forEachRecord { record in
                var names: [String] = []
                for place in 0..<record.count {
                    names.append(String(decoding: trimmed(record.bytes(place)), as: UTF8.self))
                }
                throw Header(names: names)
            }
        } catch let header as Header {
            return header.names
        }
        return []
    }

    /// The names of columns whose cells look right in the first rows of the file.
    ///
    /// Empty cells are ignored; a column without another cell does not look right.
    ///
    /// - Parameters:
    ///   - rows: How many rows are read.
    ///   - looksRight: Gets a cell without the blanks around it.
    /// - Returns: The names, from left to right.
    /// - Throws: ``CSVError``.
    package func columns(inFirst rows: Int, where looksRight: (String) -> Bool) throws -> [String] {
        struct Enough: Error {}
        var names: [String] = []
        var counts: [(right: Int, wrong: Int)] = []
        var read = 0
        do {
            try reader.forEachRecord { record in
                var cells: [String] = []
                for place in 0..<record.count {
                    cells.append(String(decoding: trimmed(record.bytes(place)), as: UTF8.self))
                }
                if names.isEmpty {
                    names = cells
                    counts = cells.map { _ in (0, 0) }
                    return
                }
                for (place, cell) in cells.prefix(names.count).enumerated() where !cell.isEmpty {
                    if looksRight(cell) { counts[place].right += 1 } else { counts[place].wrong += 1 }
                }
                read += 1
                if read == rows { throw Enough() }
            }
        } catch is Enough {}
        return names.indices.filter { counts[$0].right > 0 && counts[$0].wrong == 0 }.map { names[$0] }
    }

    private func read(
        _ record: borrowing CSVRecord,
        _ place: Int,
        _ body: (_ line: Int, _ text: String) throws -> Void
    ) throws {
        let cell = place < record.count ? trimmed(record.bytes(place)) : []
        guard cell.count <= Self.longestID else {
            throw CSVError.fieldTooLong(path: reader.path, line: record.line, limitInBytes: Self.longestID)
        }
        try body(record.line, String(decoding: cell, as: UTF8.self))
    }

    /// Whether a row has one cell, which consists of blanks.
    ///
    /// An empty cell in quotes is an ID that is missing, not a blank row.
    private func isBlank(_ record: borrowing CSVRecord) -> Bool {
        record.count == 1 && !record.bytes(0).isEmpty && trimmed(record.bytes(0)).isEmpty
    }

    /// The error of a row with a filled cell that has no column; spreadsheets write empty ones.
    private func widthError(of record: borrowing CSVRecord, _ columns: Int) -> CSVError? {
        guard record.count > columns else { return nil }
        for place in columns..<record.count where !trimmed(record.bytes(place)).isEmpty {
            return .tooManyCells(path: reader.path, line: record.line, found: record.count, expected: columns)
        }
        return nil
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

    /// Detects another delimiter: such a file seems to have a single column.
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

private func trimmed(_ cell: ArraySlice<UInt8>) -> ArraySlice<UInt8> { Blanks.trimmed(cell) }
