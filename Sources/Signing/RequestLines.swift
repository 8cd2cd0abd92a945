import Basics
import CSVFormat

/// The lines of a file of JSON Lines, read a few at a time.
///
/// Lines may end in LF or CRLF. Blank lines are skipped.
struct RequestLines: ~Copyable {
    /// The most bytes of a line; Apple's examples have about 800.
    static let longest = 256 * 1_024

    private let path: String
    private let file: InputFile
    private var chunk = [UInt8](repeating: 0, count: 65_536)
    /// The beginning of the current line, whose end was not read yet.
    private var begun: [UInt8] = []
    private var number = 1
    private var hasEnded = false

    /// - Throws: ``CSVFormat/CSVError`` when the file is missing or cannot be read.
    init(path: String) throws(CSVError) {
        file = try InputFile(path: path)
        self.path = path
    }

    /// The next lines, at least one; `nil` at the end of the file.
    ///
    /// - Throws: ``SigningInputError/lineTooLong(path:line:limit:)``, ``CSVFormat/CSVError``.
    mutating func nextLines() throws -> [RequestLine]? {
        while !hasEnded {
            var lines: [RequestLine] = []
            let count = try file.fill(&chunk)
            var start = 0
            while let end = chunk.span.extracting(first: count).firstIndex(of: UInt8(ascii: "\n"), from: start) {
                try endLine(chunk[start..<end], in: &lines)
                start = end + 1
            }
            begun.append(contentsOf: chunk[start..<count])
            hasEnded = count == 0
            if hasEnded || begun.count > Self.longest { try endLine([], in: &lines) }
            if !lines.isEmpty { return lines }
        }
        return nil
    }

    /// Ends the current line; `rest` is its last bytes.
    private mutating func endLine(_ rest: ArraySlice<UInt8>, in lines: inout [RequestLine]) throws {
        guard begun.count + rest.count <= Self.longest else {
            throw SigningInputError.lineTooLong(path: path, line: number, limit: Self.longest)
        }
        begun.append(contentsOf: rest)
        let line = RequestLine(number: number, text: begun)
        if !line.json.isEmpty { lines.append(line) }
        begun.removeAll(keepingCapacity: true)
        number += 1
    }
}

/// One line of a file of JSON Lines.
struct RequestLine: Sendable {
    /// From 1.
    let number: Int
    /// Without white space around it.
    let json: [UInt8]

    init(number: Int, text: [UInt8]) {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
        self.number = number
        let start = text.firstIndex { !isBlank($0) } ?? text.endIndex
        let end = text.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? start
        json = Array(text[start..<end])
    }
}
