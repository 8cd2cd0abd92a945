import AppStoreModel
import Basics
import CSVFormat
import JobPlan
import Ledger

/// The source of a job's IDs.
///
/// Validates each ID; a list is never completely in memory.
struct IDSource {
    let job: JobFile

    /// The number of IDs sent to the database at a time.
    private static let batch = 10_000
    /// The most bad rows that an error lists; further ones usually have the same cause.
    fileprivate static let listedBadRows = 10

    func ids() -> ListedIDs {
        switch job.transactionIds {
        case nil, .changedSince: .none
        case .list(let ids): .feed { take in try take(ids) }
        case .csv(let path, let column): .feed { take in try Self.read(path, column, take) }
        case .query(let sql): .query(sql)
        }
    }

    /// The number of distinct IDs in the job's list; needs no database.
    ///
    /// - Returns: `nil` if the IDs come from a query or from notifications.
    /// - Throws: ``ListError``.
    func count() throws -> IDCount? {
        guard case .feed(let feed) = ids() else {
            return job.transactionIds == nil ? IDCount(distinct: 0, duplicates: 0) : nil
        }
        return try DistinctIDs().count(feed)
    }

    private static func read(_ path: String, _ column: String?, _ take: ([TransactionID]) throws -> Void) throws {
        var ready: [TransactionID] = []
        var bad: [ListError.BadRow] = []
        do {
            try IDColumnReader(path: path, column: column).forEachCell { line, text in
                guard let id = TransactionID(text) else {
                    // One more than is listed, so that the error can say that there are more.
                    if bad.count <= listedBadRows { bad.append(ListError.BadRow(line: line, found: text)) }
                    return
                }
                guard bad.isEmpty else { return }
                ready.append(id)
                guard ready.count == batch else { return }
                try take(ready)
                ready.removeAll(keepingCapacity: true)
            }
        } catch let error as CSVError {
            throw ListError(path: path, problem: .unreadable(error))
        }
        guard bad.isEmpty else { throw ListError(path: path, problem: .badRows(bad)) }
        if !ready.isEmpty { try take(ready) }
    }
}

/// An ID list is unusable; nothing was sent.
struct ListError: Error, CustomStringConvertible {
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
    let problem: Problem

    var isMissing: Bool {
        if case .unreadable(let error) = problem { return error.isMissingInput }
        return false
    }

    var description: String {
        switch problem {
        case .unreadable(let error):
            return error.description
        case .badRows(let rows):
            let listed = rows.prefix(IDSource.listedBadRows).map {
                "\(path):\($0.line): \"\(printable($0.found.prefix(40)))\" is not a transaction ID\($0.hint)"
            }
            let more = rows.count > IDSource.listedBadRows ? ["… and more"] : []
            return (listed + more + ["An ID is one to twenty digits. Nothing was sent."]).joined(separator: "\n")
        }
    }
}
