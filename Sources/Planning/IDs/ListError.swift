import AppStoreModel
package import Basics
import CSVFormat
import JobSyntax

/// An ID list is unusable; nothing was sent.
package struct ListError: ExplainedError, CustomStringConvertible {
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
            let parts = found.split(separator: ".", omittingEmptySubsequences: false)
            if parts.count == 2, TransactionID(String(parts[0])) != nil, parts[1].allSatisfy({ $0 == "0" }) {
                return
                    " (the ID was written as a decimal number, which changes the last digits of long IDs; write it as text)"
            }
            if ["MI", "TU", "ewo", "eyJ"].contains(where: found.hasPrefix), found.utf8.count > 40 {
                return " (if it is a receipt, call the column receipt)"
            }
            let hasExponent = found.contains("E+") || found.contains("e+")
            return hasExponent && found.contains(where: \.isNumber)
                ? " (a spreadsheet has turned the ID into a number; format the column as text)" : ""
        }
    }

    enum Problem {
        case unreadable(CSVError)
        /// `column` is another column of the file whose cells look like IDs.
        case badRows([BadRow], column: String?)
        /// Every digit after the fifteenth is zero.
        case rounded(example: String)
        /// The cells are numbers, but too short for IDs of Apple's; the cells of the column `better` look right.
        case wrongColumn(example: String, better: String)
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
            let listed = rows.prefix(ListRows.listedBadRows).map { $0.sentence(path: path, kind) }
            let more = rows.count > ListRows.listedBadRows ? ["… and more"] : []
            let hint =
                column.map { ["The file has a column \(printable($0, limit: 60)): name it in \(kind.key).csv.column."] }
                ?? []
            return (listed + more + hint + ["An ID is \(kind.rule). Nothing was sent."]).joined(separator: "\n")
        case .rounded(let example):
            return """
                \(path): every digit after the fifteenth is zero, such as in \(example): a spreadsheet has rounded the IDs. Export the list \
                again with the column as text. Nothing was sent. (If the IDs are right, write them under \(kind.key).list.)
                """
        case .wrongColumn(let example, let better):
            return """
                \(path): the column that was read has no IDs but numbers such as \(example); the column \(printable(better, limit: 60)) looks \
                right: name it in \(kind.key).csv.column. Nothing was sent.
                """
        }
    }

    package var status: ExitStatus { isMissing ? .missingInput : .badInput }
}
