import Basics
import CSVFormat
import JobPlan
import Ledger

/// An ID list is unusable; nothing was sent.
package struct ListError: Error, CustomStringConvertible {
    struct BadRow {
        let line: Int
        let found: String

        var hint: String {
            let hasExponent = found.contains("E+") || found.contains("e+")
            return hasExponent && found.contains(where: \.isNumber)
                ? " (a spreadsheet has turned the ID into a number; format the column as text)" : ""
        }
    }

    enum Problem {
        case unreadable(CSVError)
        case badRows([BadRow])
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
        case .badRows(let rows):
            let listed = rows.prefix(IDSource.listedBadRows).map {
                "\(path):\($0.line): \"\(printable($0.found.prefix(40)))\" is not \(kind.name)\($0.hint)"
            }
            let more = rows.count > IDSource.listedBadRows ? ["… and more"] : []
            return (listed + more + ["An ID is \(kind.rule). Nothing was sent."]).joined(separator: "\n")
        }
    }
}
