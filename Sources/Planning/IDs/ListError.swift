import Basics
import CSVFormat
import Ledger

/// An ID list is unusable; nothing was sent.
package struct ListError: Error, CustomStringConvertible {
    struct BadRow {
        let line: Int
        let found: String

        var hint: String {
            let isNumber = found.contains(where: \.isNumber) && (found.contains("E+") || found.contains("e+"))
            return isNumber ? " (a spreadsheet has turned the ID into a number; format the column as text)" : ""
        }
    }

    enum Problem {
        case unreadable(CSVError)
        case badRows([BadRow])
    }

    let path: String
    let problem: Problem

    package var isMissing: Bool {
        if case .unreadable(let error) = problem { return error.isMissingInput }
        return false
    }

    package var description: String {
        switch problem {
        case .unreadable(let error):
            return error.description
        case .badRows(let rows):
            let named = rows.prefix(10).map {
                "\(path):\($0.line): \"\(printable($0.found.prefix(40)))\" is not a transaction ID\($0.hint)"
            }
            let more = rows.count > 10 ? ["… and more"] : []
            return (named + more + ["An ID is one to twenty digits. Nothing was sent."]).joined(separator: "\n")
        }
    }
}
