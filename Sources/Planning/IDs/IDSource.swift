import AppStoreModel
import Basics
import CSVFormat
package import JobSyntax

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
        var digits = DigitCounts()
        do {
            // One more than is listed, so that the error can say that there are more.
            func note(_ row: ListError.BadRow) { if bad.count <= listedBadRows { bad.append(row) } }
            try IDColumnReader(path: path, column: column).forEachCell(tooWide: { note(.tooWide($1)) }) { line, text in
                guard kind.accepts(text) else { return note(.notAnID(line: line, found: text)) }
                guard bad.isEmpty else { return }
                if kind == .transaction { digits.note(text) }
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
            let better = named ?? (kind == .transaction ? betterColumn(path, column) : nil)
            throw ListError(path: path, kind: kind, problem: .badRows(bad, column: better))
        }
        if let example = digits.roundedExample {
            throw ListError(path: path, kind: kind, problem: .rounded(example: example))
        }
        if let example = digits.shortExample, let better = betterColumn(path, column) {
            throw ListError(path: path, kind: kind, problem: .wrongColumn(example: example, better: better))
        }
        if !ready.isEmpty { try take(ready) }
    }

    /// A column of the file, other than the one that was read, whose cells look like transaction IDs; `nil` if there is none.
    private static func betterColumn(_ path: String, _ column: String?) -> String? {
        let reader = IDColumnReader(path: path, column: nil)
        guard let header = try? reader.header(), let read = column ?? header.first else { return nil }
        let columns = (try? reader.columns(inFirst: 100, where: DigitCounts.looksLikeTransactionID)) ?? []
        // A file without a header has an ID in place of a name.
        let others = columns.filter { $0 != read && TransactionID($0) == nil }
        let name = IDKind.transaction.columnName
        return others.first { $0 == name } ?? others.first { $0.hasSuffix(name) } ?? others.first
    }
}

/// What the digits of a whole list say of it.
private struct DigitCounts {
    /// An ID of Apple's has at least so many digits; a date in milliseconds has 13.
    private static let fewestDigits = 14
    /// A spreadsheet keeps so many digits of a number, and makes zeros of the others.
    private static let keptDigits = 15
    /// With so many zeros and no other digit in their places, a list is taken for rounded: of right lists, one in a thousand has them.
    private static let suspiciousZeros = 3

    private var zeros = 0
    private var hasOtherDigits = false
    private var hasLongID = false
    private var rounded: String?
    private var short: String?

    mutating func note(_ id: String) {
        if Self.looksLikeTransactionID(id) { hasLongID = true } else { short = short ?? id }
        guard id.utf8.count > Self.keptDigits else { return }
        let rest = id.utf8.dropFirst(Self.keptDigits)
        if rest.allSatisfy({ $0 == UInt8(ascii: "0") }) {
            zeros += rest.count
            rounded = rounded ?? id
        } else {
            hasOtherDigits = true
        }
    }

    /// One of the IDs, if every digit after the fifteenth is zero in all of them.
    var roundedExample: String? { hasOtherDigits || zeros < Self.suspiciousZeros ? nil : rounded }

    /// One of the numbers, if none of them is as long as an ID of Apple's.
    var shortExample: String? { hasLongID ? nil : short }

    /// Whether a text has as many digits as an ID of Apple's, and is no date such as 20261127213000.
    static func looksLikeTransactionID(_ text: String) -> Bool {
        guard TransactionID(text) != nil, text.utf8.count >= fewestDigits else { return false }
        return !(text.utf8.count == fewestDigits && (text.hasPrefix("20") || text.hasPrefix("19")))
    }
}
