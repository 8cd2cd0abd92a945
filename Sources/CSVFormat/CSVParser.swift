import CLibCSV
import Platform

/// One libcsv parser and its current record.
///
/// A class, because libcsv's callbacks need its address.
@safe
final class CSVParser {
    static let mostColumns = 1_000

    enum Failure { case quote, fieldTooLong, recordTooLong, tooManyColumns, notUTF8 }

    private(set) var record = CSVRecord()
    private(set) var isRecordComplete = false
    private var failure: Failure?
    private let parser = UnsafeMutablePointer<csv_parser>.allocate(capacity: 1)
    private let longestRecord: Int

    init(longestCell: LongestCell) {
        longestRecord = longestCell.bytesOfRecord
        unsafe parser.initialize(to: csv_parser())
        // Without CSV_STRICT_FINI an unterminated quote takes in the rest of the file without an error.
        _ = unsafe csv_init(parser, UInt8(CSV_STRICT | CSV_STRICT_FINI | CSV_EMPTY_IS_NULL))
        unsafe csv_set_blk_size(parser, 4_096)
        // A function of C has no context, so each limit has one.
        switch longestCell {
        case .text:
            unsafe csv_set_realloc_func(parser) { unsafe $1 > LongestCell.text.rawValue ? nil : realloc($0, $1) }
        case .receipt:
            unsafe csv_set_realloc_func(parser) { unsafe $1 > LongestCell.receipt.rawValue ? nil : realloc($0, $1) }
        }
    }

    deinit {
        unsafe csv_free(parser)
        unsafe parser.deallocate()
    }

    /// Whether the next byte begins a record: libcsv's state "row not begun".
    var isBetweenRecords: Bool { unsafe parser.pointee.pstate == 0 }

    /// Parses bytes that contain at most one line end, as their last byte.
    func parse(_ bytes: UnsafeRawBufferPointer) -> Failure? {
        let me = unsafe Unmanaged.passUnretained(self).toOpaque()
        let parsed = unsafe csv_parse(parser, bytes.baseAddress, bytes.count, takeField, takeRecord, me)
        if let failure { return failure }
        guard parsed < bytes.count else { return nil }
        return unsafe csv_error(parser) == CSV_ENOMEM ? .fieldTooLong : .quote
    }

    /// Handles the end of the file.
    func finish() -> Failure? {
        let me = unsafe Unmanaged.passUnretained(self).toOpaque()
        record.isEndedByFile = true
        let answer = unsafe csv_fini(parser, takeField, takeRecord, me)
        return failure ?? (answer == 0 ? nil : .quote)
    }

    func beginRecord(line: Int) {
        record.removeAll()
        record.line = line
        isRecordComplete = false
    }

    fileprivate func take(field: UnsafeRawBufferPointer, isNull: Bool) {
        guard failure == nil else { return }
        if record.count == Self.mostColumns {
            failure = .tooManyColumns
        } else if record.byteCount + field.count > longestRecord {
            failure = .recordTooLong
        } else if unsafe !isUTF8(field) {
            failure = .notUTF8
        } else {
            unsafe record.append(field, isNull: isNull)
        }
    }

    fileprivate func takeRecordEnd() {
        isRecordComplete = true
    }
}

private func takeField(_ field: UnsafeMutableRawPointer?, _ length: Int, _ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    let parser = unsafe Unmanaged<CSVParser>.fromOpaque(context).takeUnretainedValue()
    unsafe parser.take(field: UnsafeRawBufferPointer(start: field, count: length), isNull: field == nil)
}

private func takeRecord(_ terminator: Int32, _ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<CSVParser>.fromOpaque(context).takeUnretainedValue().takeRecordEnd()
}

private func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
    // Most cells are short and ASCII; only the others need a full check.
    if unsafe bytes.allSatisfy({ $0 < 0x80 }) { return true }
    return unsafe String(validating: bytes, as: UTF8.self) != nil
}
