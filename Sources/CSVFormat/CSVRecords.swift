/// The records of one CSV file, read one after the other; see ``CSVReader``.
package struct CSVRecords: ~Copyable {
    private let path: String
    private let file: InputFile
    private let parser: CSVParser
    private let longestCell: LongestCell
    private var position = LinePosition()
    private var chunk = [UInt8](repeating: 0, count: 65_536)
    /// The bytes of the chunk that are not parsed yet.
    private var unread = 0..<0
    private var hasBegun = false
    private var hasEnded = false

    init(path: String, longestCell: LongestCell) throws(CSVError) {
        file = try InputFile(path: path)
        self.path = path
        self.longestCell = longestCell
        parser = CSVParser(longestCell: longestCell)
    }

    /// Calls `body` with the next record, the first of which is the header.
    ///
    /// - Parameter body: Gets the record, which is valid during the call.
    /// - Returns: What `body` returned; `nil` at the end of the file.
    /// - Throws: ``CSVError`` with file and line; the error of `body`.
    package mutating func next<Value>(_ body: (borrowing CSVRecord) throws -> Value) throws -> Value? {
        while !hasEnded {
            if unread.isEmpty, try !fill() {
                hasEnded = true
                return try last(body)
            }
            let line = unread.lowerBound..<endOfLine(chunk, unread)
            if parser.isBetweenRecords { parser.beginRecord(line: position.line) }
            let failure = unsafe chunk.withUnsafeBytes { buffer in
                unsafe parser.parse(UnsafeRawBufferPointer(rebasing: buffer[line]))
            }
            if let failure { throw error(failure) }
            position.pass(chunk[line])
            unread = line.upperBound..<unread.upperBound
            if parser.isRecordComplete {
                defer { parser.beginRecord(line: position.line) }
                return try body(parser.record)
            }
        }
        return nil
    }

    /// Reads the next chunk.
    ///
    /// - Returns: Whether there was one.
    private mutating func fill() throws -> Bool {
        let length = try file.fill(&chunk)
        guard length > 0 else { return false }
        unread = 0..<length
        if !hasBegun {
            if let kind = kindOfBinary(chunk[..<length]) {
                throw CSVError.notText(path: path, line: 1, looksLike: kind)
            }
            if chunk[..<length].starts(with: [0xEF, 0xBB, 0xBF]) { unread = 3..<length }
            hasBegun = true
        }
        return true
    }

    /// The record that the end of the file completes.
    private func last<Value>(_ body: (borrowing CSVRecord) throws -> Value) throws -> Value? {
        if let failure = parser.finish() {
            guard failure != .quote else { throw CSVError.unterminatedQuote(path: path, line: parser.record.line) }
            throw error(failure)
        }
        return parser.isRecordComplete ? try body(parser.record) : nil
    }

    private func error(_ failure: CSVParser.Failure) -> CSVError {
        let line = position.line
        return switch failure {
        case .quote: .malformed(path: path, line: line)
        case .fieldTooLong: .fieldTooLong(path: path, line: parser.record.line, limitInBytes: longestCell.rawValue)
        case .recordTooLong:
            .recordTooLong(path: path, line: parser.record.line, limitInBytes: longestCell.bytesOfRecord)
        case .tooManyColumns: .tooManyColumns(path: path, line: line, limit: CSVParser.mostColumns)
        case .notUTF8: .notText(path: path, line: line, looksLike: "another 8-bit encoding, such as Latin-1 or EBCDIC")
        }
    }
}

/// Counts lines.
///
/// CR LF is one line end, even when a chunk ends between them.
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
private func endOfLine(_ bytes: [UInt8], _ unread: Range<Int>) -> Int {
    var at = unread.lowerBound
    while at < unread.upperBound {
        let byte = bytes[at]
        at += 1
        if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { break }
    }
    return at
}
