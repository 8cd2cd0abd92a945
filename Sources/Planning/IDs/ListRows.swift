import AppStoreModel
import CSVFormat
import JobSyntax
import SignedData

/// What has been read of a CSV file with IDs.
struct ListRows {
    /// The number of IDs sent to the database at a time.
    private static let batch = 10_000
    /// The most bad rows that an error lists; further ones usually have the same cause.
    static let listedBadRows = 10

    let kind: IDKind
    /// IDs that are not sent yet.
    private(set) var ready: [String] = []
    /// One more than an error lists, so that it can say that there are more.
    private(set) var bad: [ListError.BadRow] = []
    private(set) var digits = DigitCounts()
    private(set) var skipped = SkippedReceipts()

    init(kind: IDKind) {
        self.kind = kind
    }

    mutating func add(_ text: String, line: Int) {
        guard kind.accepts(text) else { return note(.notAnID(line: line, found: text)) }
        guard bad.isEmpty else { return }
        if kind == .transaction { digits.note(text) }
        ready.append(text)
    }

    /// Adds the ID in a receipt, or a plain ID in a column of receipts.
    mutating func addReceipt(_ cell: ArraySlice<UInt8>, of bundleId: String, line: Int) {
        if cell.count <= IDColumnReader.longestID {
            let text = String(decoding: cell, as: UTF8.self)
            if kind.accepts(text) { return add(text, line: line) }
        }
        do throws(ReceiptDefect) {
            let id = try ReceiptText.transactionId(in: cell, of: bundleId)
            if bad.isEmpty { ready.append(id.text) }
        } catch {
            skipped.note(error, line: line)
        }
    }

    mutating func note(_ row: ListError.BadRow) {
        if bad.count <= Self.listedBadRows { bad.append(row) }
    }

    /// The IDs to send, as soon as they are enough.
    mutating func fullBatch() -> [String]? {
        guard ready.count == Self.batch else { return nil }
        defer { ready.removeAll(keepingCapacity: true) }
        return ready
    }
}
