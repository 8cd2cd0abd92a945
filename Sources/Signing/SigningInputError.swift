package import Basics
package import CSVFormat

/// Why an input cannot be signed; no output was written.
package enum SigningInputError: ExplainedError, Sendable {
    case unreadable(CSVError)
    /// A column that looks like a known one with a typing error.
    case misspelledColumn(path: String, column: String, nearest: String)
    /// A column that the output adds.
    case addedColumn(path: String, column: String)
    case lineTooLong(path: String, line: Int, limit: Int)
    case noRows(path: String)
    /// Rows that break a rule: the first ones, and the number of all.
    case invalid(path: String, rows: Int, problems: [RowProblem], count: Int)

    /// Whether the file does not exist or cannot be read (exit 66).
    package var isMissingInput: Bool {
        if case .unreadable(let error) = self { return error.isMissingInput }
        return false
    }

    /// One line, and one for each row that is shown.
    package var sentence: String {
        switch self {
        case .unreadable(let error):
            return "\(error.description) Nothing was signed"
        case .misspelledColumn(let path, let column, let nearest):
            let found = printable(column, limit: 60)
            return "\(path): unknown column \"\(found)\"; did you mean \"\(nearest)\"? Nothing was signed"
        case .addedColumn(let path, let column):
            return "\(path): the output adds a column \"\(column)\"; remove it from the input. Nothing was signed"
        case .lineTooLong(let path, let line, let limit):
            return
                "\(path):\(line): a line has more than \(limit) bytes; write one request on each line. Nothing was signed"
        case .noRows(let path):
            return "\(path): there are no rows. Nothing was signed"
        case .invalid(let path, let rows, let problems, let count):
            let lines = problems.map { "\(path):\($0.line): \($0.sentence)" }
            let more = count > problems.count ? ["… and \(count - problems.count) more"] : []
            let first = "\(path): \(count) of \(rows) rows cannot be signed, so nothing was signed"
            return ([first] + lines + more).joined(separator: "\n")
        }
    }

    package var status: ExitStatus { isMissingInput ? .missingInput : .badInput }
}
