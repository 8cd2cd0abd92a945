import Basics
import CSVFormat
import JobPlan
import Ledger

/// An ID list is unusable; nothing was sent.
package struct ListError: Error, CustomStringConvertible {
    enum BadRow {
        case notAnID(line: Int, found: String)
        case tooWide(CSVError)

        func sentence(path: String, _ kind: IDKind) -> String {
            switch self {
            case .notAnID(let line, let found):
                "\(path):\(line): \"\(printable(found.prefix(40)))\" is not \(kind.name)\(Self.hint(found))"
            case .tooWide(let error): error.description
            }
        }

        private static func hint(_ found: String) -> String {
            if found.hasPrefix("'") || found.hasPrefix("\u{2019}") {
                return " (remove the apostrophe, with which a spreadsheet marks a text)"
            }
            let hasExponent = found.contains("E+") || found.contains("e+")
            return hasExponent && found.contains(where: \.isNumber)
                ? " (a spreadsheet has turned the ID into a number; format the column as text)" : ""
        }
    }

    enum Problem {
        case unreadable(CSVError)
        /// `column` is a later column of the file that has the IDs by its name, if the job names none.
        case badRows([BadRow], column: String?)
    }

    let path: String
    let kind: IDKind
    let problem: Problem

    package var isMissing: Bool {
        if case .unreadable(let error) = problem { return error.isMissingInput }
        return false
    }

    package var description: String {
        switch problem {
        case .unreadable(let error):
            return error.description
        case .badRows(let rows, let column):
            let listed = rows.prefix(IDSource.listedBadRows).map { $0.sentence(path: path, kind) }
            let more = rows.count > IDSource.listedBadRows ? ["… and more"] : []
            let hint = column.map { ["The file has a column \($0): name it in \(kind.key).csv.column."] } ?? []
            return (listed + more + hint + ["An ID is \(kind.rule). Nothing was sent."]).joined(separator: "\n")
        }
    }
}
