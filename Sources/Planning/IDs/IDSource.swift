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

    /// Whether the first line of a CSV file begins with an ID, so that the file has no header.
    ///
    /// - Returns: False also for a file that cannot be read.
    package static func startsWithID(_ kind: IDKind, in path: String) -> Bool {
        struct FirstRow: Error { let isID: Bool }
        do {
            try IDColumnReader(path: path, column: nil).forEachCell { line, text in
                throw FirstRow(isID: line == 1 && kind.accepts(text))
            }
        } catch {
            return (error as? FirstRow)?.isID ?? false
        }
        return false
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
            // One more than is listed, so that the error can say that there are more.
            func note(_ row: ListError.BadRow) { if bad.count <= listedBadRows { bad.append(row) } }
            try IDColumnReader(path: path, column: column).forEachCell(tooWide: { note(.tooWide($1)) }) { line, text in
                guard kind.accepts(text) else { return note(.notAnID(line: line, found: text)) }
                guard bad.isEmpty else { return }
                ready.append(text)
                guard ready.count == batch else { return }
                try take(ready)
                ready.removeAll(keepingCapacity: true)
            }
        } catch let error as CSVError {
            throw ListError(path: path, kind: kind, problem: .unreadable(error))
        }
        guard bad.isEmpty else {
            let other = column == nil ? try? IDColumnReader(path: path, column: nil).header().dropFirst() : nil
            let named = other?.contains(kind.columnName) == true ? kind.columnName : nil
            throw ListError(path: path, kind: kind, problem: .badRows(bad, column: named))
        }
        if !ready.isEmpty { try take(ready) }
    }
}
