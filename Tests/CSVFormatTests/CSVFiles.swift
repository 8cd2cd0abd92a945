import CSVFormat
import FoundationEssentials
import Glibc

/// Puts `bytes` into a file for `body`, and removes it.
func withFile<R>(_ bytes: [UInt8], _ body: (_ path: String) throws -> R) throws -> R {
    let url = FileManager.default.temporaryDirectory.appending(path: "storeledger-csv-\(UUID().uuidString)")
    try Data(bytes).write(to: url)
    defer {
        // A file that stays behind in the temporary directory fails no test.
        try? FileManager.default.removeItem(at: url)
    }
    return try body(url.path)
}

func withFile<R>(_ text: String, _ body: (_ path: String) throws -> R) throws -> R {
    try withFile(Array(text.utf8), body)
}

/// One row of an ID list as the reader gives it.
struct IDCell: Equatable {
    let line: Int
    let text: String

    init(_ line: Int, _ text: String) {
        self.line = line
        self.text = text
    }
}

func idCells(_ path: String, column: String?) throws -> [IDCell] {
    var cells: [IDCell] = []
    try IDColumnReader(path: path, column: column).forEachCell { cells.append(IDCell($0, $1)) }
    return cells
}

/// The error that reading the list throws; `nil` when it is read.
func failure(reading path: String, column: String?) throws -> CSVError? {
    do {
        _ = try idCells(path, column: column)
        return nil
    } catch let error as CSVError {
        return error
    }
}

enum WrittenCell: Equatable {
    case null
    case text(String)
    case literal(String)
}

/// Writes rows to `path` and says how many the writer counted.
func write(_ rows: [[WrittenCell]], columns: [String], to path: String) throws -> Int {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    var writer = try CSVWriter(fileDescriptor: descriptor, columns: columns)
    for row in rows {
        for cell in row {
            switch cell {
            case .null: writer.appendNull()
            case .text(let text): writer.append(text: Array(text.utf8).span)
            case .literal(let text): writer.append(literal: Array(text.utf8).span)
            }
        }
        try writer.endRow()
    }
    try writer.flush()
    return writer.rowCount
}

/// Cells of every record; `nil` where the cell is NULL.
func records(_ path: String) throws -> [[String?]] {
    var found: [[String?]] = []
    try CSVReader(path: path).forEachRecord { record in
        var cells: [String?] = []
        for place in 0..<record.count { cells.append(record.isNull(place) ? nil : record.text(place)) }
        found.append(cells)
    }
    return found
}
