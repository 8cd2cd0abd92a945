import Glibc

/// Reads a CSV file of any size in pieces of 64 KiB: RFC 4180, comma, UTF-8 with or without a byte order mark.
///
/// Lines may end in LF, CRLF or CR. Blank lines are skipped. Spaces and tabs around an unquoted cell are removed.
/// A cell may have 1 MiB, and a row 8 MiB and 1,000 columns.
package struct CSVReader: Sendable {
    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// Calls `body` for each record, including the header.
    ///
    /// - Parameter body: Gets the record, which is valid during the call.
    /// - Throws: ``CSVError`` with file and line; the error of `body`.
    package func forEachRecord(_ body: (borrowing CSVRecord) throws -> Void) throws {
        let file = try InputFile(path: path)
        let parser = CSVParser()
        var position = LinePosition()
        var chunk = [UInt8](repeating: 0, count: 65_536)
        var isFirst = true
        while true {
            let length = try file.fill(&chunk)
            if length == 0 { break }
            var start = 0
            if isFirst {
                if let kind = kindOfBinary(chunk[..<length]) {
                    throw CSVError.notText(path: path, line: 1, looksLike: kind)
                }
                if chunk[..<length].starts(with: [0xEF, 0xBB, 0xBF]) { start = 3 }
                isFirst = false
            }
            while start < length {
                let end = endOfLine(chunk, start, length)
                if parser.isBetweenRecords { parser.beginRecord(line: position.line) }
                let failure = unsafe chunk.withUnsafeBytes { buffer in
                    unsafe parser.parse(UnsafeRawBufferPointer(rebasing: buffer[start..<end]))
                }
                if let failure { throw error(failure, parser, position) }
                position.pass(chunk[start..<end])
                if parser.isRecordComplete {
                    try body(parser.record)
                    parser.beginRecord(line: position.line)
                }
                start = end
            }
        }
        if let failure = parser.finish() {
            guard failure != .quote else { throw CSVError.unterminatedQuote(path: path, line: parser.record.line) }
            throw error(failure, parser, position)
        }
        if parser.isRecordComplete { try body(parser.record) }
    }

    private func error(_ failure: CSVParser.Failure, _ parser: CSVParser, _ position: LinePosition) -> CSVError {
        let line = position.line
        return switch failure {
        case .quote: .malformed(path: path, line: line)
        case .fieldTooLong: .fieldTooLong(path: path, line: parser.record.line, limitInBytes: CSVParser.longestField)
        case .recordTooLong: .recordTooLong(path: path, line: parser.record.line, limitInBytes: CSVParser.longestRecord)
        case .tooManyColumns: .tooManyColumns(path: path, line: line, limit: CSVParser.mostColumns)
        case .notUTF8: .notText(path: path, line: line, looksLike: "another 8-bit encoding, such as Latin-1 or EBCDIC")
        }
    }
}

/// Counts lines.
///
/// CR LF is one line end, also when a chunk ends between them.
private struct LinePosition {
    private(set) var line = 1
    private var afterCR = false

    /// Counts the line end in `bytes`, which can only be their last byte.
    mutating func pass(_ bytes: ArraySlice<UInt8>) {
        let isSecondOfPair = afterCR && bytes.count == 1 && bytes.last == UInt8(ascii: "\n")
        afterCR = bytes.last == UInt8(ascii: "\r")
        if (afterCR || bytes.last == UInt8(ascii: "\n")) && !isSecondOfPair { line += 1 }
    }
}

/// The index after the next line end, or the end of the bytes.
private func endOfLine(_ bytes: [UInt8], _ start: Int, _ length: Int) -> Int {
    var at = start
    while at < length {
        let byte = bytes[at]
        at += 1
        if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { break }
    }
    return at
}
