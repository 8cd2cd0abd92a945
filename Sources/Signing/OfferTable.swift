import Basics
import CSVFormat

/// The rows of a CSV file of offers, read a few at a time.
struct OfferTable: ~Copyable {
    /// The number of rows that are signed together.
    private static let batch = 128

    let header: OfferHeader
    private var records: CSVRecords

    /// Opens the file and reads its header.
    ///
    /// - Throws: ``SigningInputError``, ``CSVFormat/CSVError``.
    init(path: String, kind: SignatureKind) throws {
        var records = try CSVReader(path: path).records()
        let names = try records.next { record in
            let cells = (0..<record.count).map { record.text($0) }
            let delimiters: [Character] = [";", "\t", "|"]
            if cells.count == 1, let found = delimiters.first(where: cells[0].contains) {
                throw CSVError.wrongDelimiter(path: path, line: record.line, found: found)
            }
            return cells
        }
        guard let names else { throw CSVError.noRecord(path: path) }
        header = try OfferHeader(names, of: path, kind: kind)
        self.records = records
    }

    /// The next rows, at least one; `nil` at the end of the file.
    ///
    /// - Throws: ``CSVFormat/CSVError``.
    mutating func nextRows() throws -> [OfferRow]? {
        var rows: [OfferRow] = []
        rows.reserveCapacity(Self.batch)
        while rows.count < Self.batch {
            let row = try records.next { record in
                OfferRow(line: record.line, cells: (0..<record.count).map { record.text($0) })
            }
            guard let row else { break }
            rows.append(row)
        }
        return rows.isEmpty ? nil : rows
    }
}

/// One row of a CSV file of offers.
struct OfferRow: Sendable {
    /// The line of the file in which the row begins, from 1.
    let line: Int
    let cells: [String]
}

/// The header of a CSV file of offers: the positions of the columns that its kind of signature reads.
struct OfferHeader: Sendable {
    let names: [String]
    private let columns: [OfferColumn]
    /// The place of each of ``columns`` in a row; `nil` if the file lacks it.
    private let places: [Int?]

    /// - Throws: ``SigningInputError`` when a column is missing, misspelt, there twice, or one that the output adds.
    init(_ names: [String], of path: String, kind: SignatureKind) throws(SigningInputError) {
        let columns = OfferColumn.columns(of: kind)
        let known = columns.map(\.name)
        for name in names where OfferColumn.added(by: kind).contains(name) {
            throw .addedColumn(path: path, column: name)
        }
        for name in known where names.count(where: { $0 == name }) > 1 {
            throw .unreadable(.ambiguousColumn(path: path, name: name))
        }
        for column in columns where column.isRequired && !names.contains(column.name) {
            throw .unreadable(.missingColumn(path: path, name: column.name, found: names))
        }
        // A misspelt column that is not required would be left out of every signature.
        for name in names where !known.contains(name) {
            if let column = nearest(to: name, among: known.filter { !names.contains($0) }) {
                throw .misspelledColumn(path: path, column: name, nearest: column)
            }
        }
        self.names = names
        self.columns = columns
        places = known.map { name in names.firstIndex(of: name) }
    }

    /// The values of the columns, in their order; `nil` where the row has none.
    ///
    /// - Throws: The rule that the row breaks.
    func values(of row: OfferRow) throws(RowProblem) -> [String?] {
        guard row.cells.count <= names.count else {
            throw RowProblem(row.line, "the row has \(row.cells.count) cells, the header has \(names.count)")
        }
        var values: [String?] = []
        values.reserveCapacity(columns.count)
        for (column, place) in zip(columns, places) {
            guard let place, place < row.cells.count, !row.cells[place].isEmpty else {
                guard !column.isRequired else {
                    throw RowProblem(row.line, "\(column.name) is missing; it must be \(column.rule)")
                }
                values.append(nil)
                continue
            }
            let text = row.cells[place]
            guard column.accepts(text) else {
                let found = printable(text, limit: 60, quoted: true)
                throw RowProblem(row.line, "\(column.name) is \(found); it must be \(column.rule)")
            }
            values.append(text)
        }
        return values
    }
}
