/// Reads a CSV file of any size in pieces of 64 KiB: RFC 4180, comma, UTF-8 with or without a byte order mark.
///
/// Lines may end in LF, CRLF or CR. Blank lines are skipped. Spaces and tabs around an unquoted cell are removed.
/// A cell may have 1 MiB, and a row 8 MiB and 1,000 columns; with receipts 8 MiB and 16 MiB.
package struct CSVReader: Sendable {
    package let path: String
    private let longestCell: LongestCell

    package init(path: String, longestCell: LongestCell = .text) {
        self.path = path
        self.longestCell = longestCell
    }

    /// Opens the file.
    ///
    /// - Throws: ``CSVError`` when the file is missing or cannot be read.
    package func records() throws(CSVError) -> CSVRecords {
        try CSVRecords(path: path, longestCell: longestCell)
    }

    /// Calls `body` for each record, including the header.
    ///
    /// - Parameter body: Gets the record, which is valid during the call.
    /// - Throws: ``CSVError`` with file and line; the error of `body`.
    package func forEachRecord(_ body: (borrowing CSVRecord) throws -> Void) throws {
        var records = try records()
        while try records.next(body) != nil {}
    }
}

/// The most bytes of a cell.
package enum LongestCell: Int, Sendable {
    case text = 0x10_0000
    /// App receipts of customers with many purchases have some megabytes.
    case receipt = 0x80_0000

    /// The most bytes of a row.
    var bytesOfRecord: Int { max(8 << 20, 2 * rawValue) }
}
