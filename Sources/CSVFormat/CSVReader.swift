/// Reads a CSV file of any size in pieces of 64 KiB: RFC 4180, comma, UTF-8 with or without a byte order mark.
///
/// Lines may end in LF, CRLF or CR. Blank lines are skipped. Spaces and tabs around an unquoted cell are removed.
/// A cell may have 1 MiB, and a row 8 MiB and 1,000 columns.
package struct CSVReader: Sendable {
    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// Opens the file.
    ///
    /// - Throws: ``CSVError`` when the file is missing or cannot be read.
    package func records() throws(CSVError) -> CSVRecords {
        try CSVRecords(path: path)
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
