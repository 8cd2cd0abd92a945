import Basics
import Platform

/// An error in a CSV file, or in writing one.
package enum CSVError: Error, Hashable, Sendable {
    case missingFile(path: String)
    case unreadableFile(path: String, errno: Int32)
    /// The path is a directory, a pipe or a device.
    case notAFile(path: String)
    /// The file is not UTF-8; `looksLike` is the likely format.
    case notText(path: String, line: Int, looksLike: String)
    case malformed(path: String, line: Int)
    /// A quote in the record that begins in this line is never closed.
    case unterminatedQuote(path: String, line: Int)
    case fieldTooLong(path: String, line: Int, limitInBytes: Int)
    case recordTooLong(path: String, line: Int, limitInBytes: Int)
    case tooManyColumns(path: String, line: Int, limit: Int)
    /// A row of an ID list has more cells than the first record.
    case tooManyCells(path: String, line: Int, found: Int, expected: Int)
    case noRecord(path: String)
    case missingColumn(path: String, name: String, found: [String])
    case ambiguousColumn(path: String, name: String)
    case wrongDelimiter(path: String, line: Int, found: Character)
    /// A row has another number of cells than there are columns: an internal error.
    case columnCountMismatch(row: Int, found: Int, expected: Int)
    case cannotWrite(errno: Int32)

    /// Whether the file does not exist or cannot be read (exit 66).
    package var isMissingInput: Bool {
        switch self {
        case .missingFile, .unreadableFile, .notAFile: true
        default: false
        }
    }
}

extension CSVError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .missingFile(let path):
            "\(path): there is no such file."
        case .unreadableFile(let path, let errno):
            "\(path): it cannot be read: \(systemErrorText(errno))."
        case .notAFile(let path):
            "\(path): this is not a regular file; name a file that can be read again."
        case .notText(let path, let line, let looksLike):
            "\(path):\(line): this is not UTF-8 text (looks like \(looksLike)); save it as CSV, UTF-8."
        case .malformed(let path, let line):
            "\(path):\(line): a quote stands where none may be; a cell with a quote is \"quoted\", and the quote doubled."
        case .unterminatedQuote(let path, let line):
            "\(path):\(line): the quoted cell that begins here is never closed."
        case .fieldTooLong(let path, let line, let limit):
            "\(path):\(line): a cell has more than \(limit) bytes."
        case .recordTooLong(let path, let line, let limit):
            "\(path):\(line): a row has more than \(limit) bytes."
        case .tooManyColumns(let path, let line, let limit):
            "\(path):\(line): a row has more than \(limit) columns."
        case .tooManyCells(let path, let line, let found, let expected):
            "\(path):\(line): this row has \(found) cells, the first row has \(expected); put a cell that contains a comma in quotes, and write IDs without separators."
        case .noRecord(let path):
            "\(path): the file is empty; it must have a header or at least one row."
        case .missingColumn(let path, let name, let found):
            "\(path): there is no column \"\(name)\"; "
                + (found.first.map(looksLikeID) == true
                    ? "the first row begins with the ID \(list(Array(found.prefix(1)))), so the file has no header: remove column from the job file, and the first column is read."
                    : "the header has \(list(found)).")
        case .ambiguousColumn(let path, let name):
            "\(path): the header has \"\(name)\" more than once; column names must differ."
        case .wrongDelimiter(let path, let line, let found):
            "\(path):\(line): cells seem to be separated by \(found == "\t" ? "tabs" : "\"\(found)\""); use commas."
        case .columnCountMismatch(let row, let found, let expected):
            "Row \(row) of a CSV file was given \(found) cells; it has \(expected) columns."
        case .cannotWrite(let errno):
            "A CSV file cannot be written: \(systemErrorText(errno))."
        }
    }
}

/// Whether a cell is digits, as transaction IDs are and names of columns are not.
private func looksLikeID(_ cell: String) -> Bool {
    let bytes = cell.utf8.filter { $0 != UInt8(ascii: " ") }
    return !bytes.isEmpty && bytes.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
}

private func list(_ names: [String]) -> String {
    let shown = names.prefix(10).map { printable($0, limit: 60, quoted: true) }
    return shown.joined(separator: ", ") + (names.count > 10 ? " and \(names.count - 10) more" : "")
}
