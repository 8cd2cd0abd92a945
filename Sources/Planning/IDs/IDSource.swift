import AppStoreModel
import Basics
import CSVFormat
package import JobPlan
import Ledger

/// Reads one list of IDs.
///
/// Validates each ID; a list is never completely in memory.
package struct IDSource {
    private let list: IDList?
    private let kind: IDKind

    /// - Parameters:
    ///   - list: `nil` for no IDs, or for IDs that notifications name.
    ///   - kind: Which IDs are valid.
    package init(_ list: IDList?, of kind: IDKind) {
        self.list = list
        self.kind = kind
    }

    /// The number of IDs sent to the database at a time.
    private static let batch = 10_000
    /// The most bad rows that an error lists; further ones usually have the same cause.
    static let listedBadRows = 10

    package var ids: ListedIDs {
        switch list {
        case nil: .none
        case .list(let ids): .feed { take in try take(ids) }
        case .csv(let path, let column): .feed { [kind] take in try Self.read(path, column, kind, take) }
        case .query(let sql): .query(sql)
        }
    }

    /// The number of distinct IDs in the list; needs no database.
    ///
    /// - Returns: `nil` if the IDs come from a query.
    /// - Throws: ``ListError``.
    package func count() throws -> IDCount? {
        switch ids {
        case .none: IDCount(distinct: 0, duplicates: 0)
        case .feed(let feed): try DistinctIDs().count(feed)
        case .query: nil
        }
    }

    private static func read(
        _ path: String,
        _ column: String?,
        _ kind: IDKind,
        _ take: ([String]) throws -> Void
    ) throws {
        var ready: [String] = []
        var bad: [ListError.BadRow] = []
        do {
            try IDColumnReader(path: path, column: column).forEachCell { line, text in
                guard kind.accepts(text) else {
                    // One more than is listed, so that the error can say that there are more.
                    if bad.count <= listedBadRows { bad.append(ListError.BadRow(line: line, found: text)) }
                    return
                }
                guard bad.isEmpty else { return }
                ready.append(text)
                guard ready.count == batch else { return }
                try take(ready)
                ready.removeAll(keepingCapacity: true)
            }
        } catch let error as CSVError {
            throw ListError(path: path, kind: kind, problem: .unreadable(error))
        }
        guard bad.isEmpty else { throw ListError(path: path, kind: kind, problem: .badRows(bad)) }
        if !ready.isEmpty { try take(ready) }
    }
}
