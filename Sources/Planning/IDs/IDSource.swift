import CSVFormat
package import JobSyntax

/// Reads one list of IDs.
///
/// Validates each ID; a list is never completely in memory.
package struct IDSource {
    private let list: IDList?
    private let kind: IDKind
    private let bundleId: String

    /// - Parameters:
    ///   - list: `nil` for no IDs, or for IDs that notifications name.
    ///   - kind: Which IDs are valid.
    ///   - bundleId: The app whose receipts are read.
    package init(_ list: IDList?, of kind: IDKind, bundleId: String) {
        self.list = list
        self.kind = kind
        self.bundleId = bundleId
    }

    package var ids: ListedIDs {
        switch list {
        case nil: .none
        case .list(let ids): .feed { take in try take(ids) }
        case .csv(let path, let column): .file(IDFile(path: path, column: column, kind: kind, bundleId: bundleId))
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
        case .file(let file): try file.count()
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
}
