import Basics
import CSVFormat
import LedgerSchema
import Postgres

extension PublishedTable {
    /// Writes the header and rows of an app and of ``furtherApps``, each in the order of the primary key.
    ///
    /// - Returns: The number of rows, without the header.
    /// - Throws: ``CSVFormat/CSVError``, ``Postgres/PostgresError``.
    func writeCSV(
        _ rows: PublishedRows,
        of app: AppID,
        from connection: borrowing PostgresConnection,
        to descriptor: Int32
    ) throws -> Int {
        let kinds = columns.map { CSVCellKind(type: $0.type) }
        var writer = try CSVWriter(fileDescriptor: descriptor, columns: columns.map(\.name))
        var line = CopyTextRow()
        var moment: [UInt8] = []
        for app in [app] + furtherApps {
            try connection.copyOut(try query(rows, of: app)) { row in
                line.forEachCell(of: row) { place, cell in
                    guard let cell else { return writer.appendNull() }
                    switch kinds[place] {
                    case .text:
                        writer.append(text: cell)
                    case .literal:
                        writer.append(literal: cell)
                    case .boolean:
                        writer.append(literal: (cell[0] == UInt8(ascii: "t") ? trueText : falseText).span)
                    case .moment:
                        // `-infinity` in rate_scopes means "never".
                        guard cell[0] != UInt8(ascii: "-") else { return writer.appendNull() }
                        writeISOMoment(cell, into: &moment)
                        writer.append(literal: moment.span)
                    }
                }
                try writer.endRow()
                crashPoint(.fileRowWritten)
            }
        }
        crashPoint(.fileUnflushed)
        try writer.flush()
        return writer.rowCount
    }
}

/// How a cell is written.
private enum CSVCellKind {
    /// Quoted, and escaped if a spreadsheet would run it as a formula.
    case text
    case literal
    case boolean
    case moment

    init(type: String) {
        switch type {
        case "smallint", "integer", "bigint", "uuid": self = .literal
        case "boolean": self = .boolean
        case "timestamp with time zone": self = .moment
        default: self = .text
        }
    }
}

private let trueText = Array("true".utf8)
private let falseText = Array("false".utf8)

/// `2026-11-21 02:00:00.5+00` becomes `2026-11-21T02:00:00.5Z`; sessions run in UTC.
private func writeISOMoment(_ cell: Span<UInt8>, into text: inout [UInt8]) {
    text.removeAll(keepingCapacity: true)
    unsafe cell.withUnsafeBufferPointer { unsafe text.append(contentsOf: $0) }
    // Years from 10000 have more digits, and years before 1 have an era.
    guard let space = text.firstIndex(of: UInt8(ascii: " ")), let zone = text.lastIndex(of: UInt8(ascii: "+")) else {
        return
    }
    text[space] = UInt8(ascii: "T")
    text[zone] = UInt8(ascii: "Z")
    text.removeSubrange((zone + 1)...)
}
