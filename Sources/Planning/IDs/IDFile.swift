import AppStoreModel
import CSVFormat
import JobSyntax
import SignedData

/// A CSV file with IDs, or with receipts in which they are.
package struct IDFile: Sendable {
    let path: String
    /// `nil` for the columns that ``columns()`` finds.
    let column: String?
    let kind: IDKind
    /// The app whose receipts are read.
    let bundleId: String

    /// The columns with receipts and signed transactions.
    private static let receiptColumns = ["receipt", "token"]
    /// The columns with IDs that can stand next to them.
    private static let idColumns = ["id", "transaction_id", "original_transaction_id"]

    /// The number of distinct IDs, and the rows without one.
    ///
    /// - Throws: ``ListError``.
    func count() throws -> IDCount {
        var skipped = SkippedReceipts()
        var count = try DistinctIDs().count { take in skipped = try read(take) }
        count.skipped = skipped
        return count
    }

    /// Calls `take` with the IDs, some thousands at a time.
    ///
    /// - Returns: The rows whose receipt gives no ID.
    /// - Throws: ``ListError``; errors of `take`.
    func read(_ take: ([String]) throws -> Void) throws -> SkippedReceipts {
        var rows = ListRows(kind: kind)
        let columns: Columns
        do {
            columns = try self.columns()
            switch columns {
            case .ids(let column):
                try IDColumnReader(path: path, column: column)
                    .forEachCell(tooWide: { rows.note(.tooWide($1)) }) { line, text in
                        rows.add(text, line: line)
                        if let batch = rows.fullBatch() { try take(batch) }
                    }
            case .receipts(let columns):
                try IDColumnReader(path: path, column: nil, longestCell: .receipt)
                    .forEachFirstCell(of: columns, tooWide: { rows.note(.tooWide($1)) }) { line, column, cell in
                        if Self.receiptColumns.contains(columns[column]) {
                            rows.addReceipt(cell, of: bundleId, line: line)
                        } else {
                            rows.add(try id(cell, line: line), line: line)
                        }
                        if let batch = rows.fullBatch() { try take(batch) }
                    }
            }
        } catch let error as CSVError {
            throw ListError(path: path, kind: kind, problem: .unreadable(error))
        }
        try check(rows, columns)
        if !rows.ready.isEmpty { try take(rows.ready) }
        return rows.skipped
    }

    private enum Columns {
        /// One column of IDs; `nil` for the first one.
        case ids(String?)
        /// Columns with receipts, and those with IDs of the same customers, in the order of the header.
        case receipts([String])
    }

    /// The columns that are read: the one that the job names, or those with a known name, or the first one.
    private func columns() throws -> Columns {
        guard kind == .transaction else { return .ids(column) }
        if let column { return Self.receiptColumns.contains(column) ? .receipts([column]) : .ids(column) }
        let header = try IDColumnReader(path: path, column: nil).header()
        func hasIDs(_ name: String) -> Bool { name == "id" || name.hasSuffix(kind.columnName) }
        let receipts = try receiptColumns(of: header)
        guard !receipts.isEmpty else {
            return .ids(header.first.map(hasIDs) == true || !header.contains("id") ? nil : "id")
        }
        return .receipts(header.filter { (Self.idColumns + receipts).contains($0) })
    }

    /// The columns with receipts.
    ///
    /// Other data can have the name `token`, too. In a file with several columns, it counts only if one of its first filled cells is a
    /// receipt or an ID.
    private func receiptColumns(of header: [String]) throws -> [String] {
        let named = header.filter(Self.receiptColumns.contains)
        guard header.count > 1, named.contains("token") else { return named }
        return try hasReceiptOrID(inFirst: 100, of: "token") ? named : named.filter { $0 != "token" }
    }

    private func hasReceiptOrID(inFirst count: Int, of column: String) throws -> Bool {
        struct Enough: Error {}
        var (values, hasReceipt) = (0, false)
        do {
            try IDColumnReader(path: path, column: nil, longestCell: .receipt)
                .forEachFirstCell(of: [column], tooWide: { _, _ in }) { _, _, cell in
                    guard !cell.isEmpty else { return }
                    values += 1
                    hasReceipt =
                        DigitCounts.looksLikeTransactionID(String(decoding: cell.prefix(32), as: UTF8.self))
                        || ReceiptText.isReceipt(cell, of: bundleId)
                    if hasReceipt || values == count { throw Enough() }
                }
        } catch is Enough {}
        return hasReceipt
    }

    private func id(_ cell: ArraySlice<UInt8>, line: Int) throws(CSVError) -> String {
        let limit = IDColumnReader.longestID
        guard cell.count <= limit else { throw .fieldTooLong(path: path, line: line, limitInBytes: limit) }
        return String(decoding: cell, as: UTF8.self)
    }

    /// Refuses a list with a row that is no ID, or whose IDs cannot be right together.
    private func check(_ rows: ListRows, _ columns: Columns) throws(ListError) {
        var column: String?
        var isOnlyColumn = false
        if case .ids(let named) = columns { (column, isOnlyColumn) = (named, true) }
        guard rows.bad.isEmpty else {
            let other =
                isOnlyColumn && column == nil ? try? IDColumnReader(path: path, column: nil).header().dropFirst() : nil
            let named = other?.contains(kind.columnName) == true ? kind.columnName : nil
            let better = named ?? (kind == .transaction && isOnlyColumn ? betterColumn(than: column) : nil)
            throw ListError(path: path, kind: kind, problem: .badRows(rows.bad, column: better))
        }
        if let example = rows.digits.roundedExample {
            throw ListError(path: path, kind: kind, problem: .rounded(example: example))
        }
        if isOnlyColumn, let example = rows.digits.shortExample, let better = betterColumn(than: column) {
            throw ListError(path: path, kind: kind, problem: .wrongColumn(example: example, better: better))
        }
    }

    /// A column of the file, other than the one that was read, whose cells look like transaction IDs; `nil` if there is none.
    private func betterColumn(than column: String?) -> String? {
        let reader = IDColumnReader(path: path, column: nil)
        guard let header = try? reader.header(), let read = column ?? header.first else { return nil }
        let columns = (try? reader.columns(inFirst: 100, where: DigitCounts.looksLikeTransactionID)) ?? []
        // A file without a header has an ID in place of a name.
        let others = columns.filter { $0 != read && TransactionID($0) == nil }
        let name = IDKind.transaction.columnName
        return others.first { $0 == name } ?? others.first { $0.hasSuffix(name) } ?? others.first
    }
}
