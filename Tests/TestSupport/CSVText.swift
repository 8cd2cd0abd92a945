/// An independent parser of RFC 4180, to check the files that storeledger writes.
package struct CSVText {
    /// Every record, the header first.
    ///
    /// An empty cell is `nil` unless it is quoted.
    package let records: [[String?]]

    package struct Malformed: Error {
        package let offset: Int
    }

    package init(_ bytes: [UInt8]) throws {
        var records: [[String?]] = []
        var record: [String?] = []
        var place = 0
        while place < bytes.count {
            if bytes[place] == UInt8(ascii: "\"") {
                var cell: [UInt8] = []
                place += 1
                while true {
                    guard place < bytes.count else { throw Malformed(offset: place) }
                    if bytes[place] == UInt8(ascii: "\"") {
                        place += 1
                        guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") else { break }
                    }
                    cell.append(bytes[place])
                    place += 1
                }
                record.append(String(decoding: cell, as: UTF8.self))
            } else {
                let cell = bytes[place...].prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\r") }
                record.append(cell.isEmpty ? nil : String(decoding: cell, as: UTF8.self))
                place = cell.endIndex
            }
            guard place < bytes.count else { throw Malformed(offset: place) }
            if bytes[place] == UInt8(ascii: ",") {
                place += 1
                continue
            }
            guard bytes[place...].starts(with: [UInt8(ascii: "\r"), UInt8(ascii: "\n")]) else {
                throw Malformed(offset: place)
            }
            place += 2
            records.append(record)
            record = []
        }
        guard record.isEmpty else { throw Malformed(offset: place) }
        self.records = records
    }
}
