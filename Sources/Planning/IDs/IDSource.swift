import AppStoreModel
import Basics
import CSVFormat
package import JobPlan
import Ledger

/// The source of a job's IDs.
///
/// Validates each ID; a list is never completely in memory.
package struct IDSource {
    package let job: JobFile

    package init(job: JobFile) {
        self.job = job
    }

    /// IDs sent to the database at a time.
    private static let batch = 10_000
    /// Bad rows listed in an error; more of them usually have the same cause.
    private static let namedBadRows = 10

    package func ids() -> ListedIDs {
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
    package func count() throws -> IDCount? {
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
                    if bad.count <= namedBadRows { bad.append(ListError.BadRow(line: line, found: text)) }
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
