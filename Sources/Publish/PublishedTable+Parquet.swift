import Basics
import LedgerSchema
import ParquetFormat
import Postgres

extension PublishedTable {
    /// Writes rows of an app and of ``furtherApps``, each in the order of the primary key.
    ///
    /// The file's metadata have the table (`storeledger.table`) and the last migration (`storeledger.migration`), the version
    /// of the columns.
    ///
    /// - Returns: The number of rows.
    /// - Throws: ``ParquetFormat/ParquetError``, ``Postgres/PostgresError``.
    func writeParquet(
        _ rows: PublishedRows,
        of app: AppID,
        from connection: borrowing PostgresConnection,
        to descriptor: Int32
    ) throws -> Int {
        let migration = try connection.run("SELECT max(name) AS name FROM schema_migrations")[0].text("name")
        let kinds = columns.map { ParquetCellKind(type: $0.type) }
        var writer = try ParquetWriter(
            fileDescriptor: descriptor,
            columns: zip(columns, kinds).map { ParquetColumn(name: $0.name, type: $1.parquetType) },
            keyValues: [("storeledger.table", name), ("storeledger.migration", migration)],
            createdBy: "StoreLedger version \(storeLedgerVersion)"
        )
        for app in [app] + furtherApps {
            // Each COPY begins with a header.
            var row = CopyBinaryRow()
            let sql = try query(rows, of: app) { column, name in
                ParquetCellKind(type: column.type) == .text && column.type != "text" ? "\(name)::text" : name
            }
            try connection.copyOutBinary(sql) { message in
                let hasRow = row.forEachCell(of: message) { place, cell in
                    guard let cell else { return writer.appendNull() }
                    switch kinds[place] {
                    case .text:
                        writer.append(cell)
                    case .boolean, .integer(_):
                        writer.append(binaryInteger(cell))
                    case .moment, .date:
                        guard let value = kinds[place].sinceEpoch(binaryInteger(cell)) else {
                            return writer.appendNull()
                        }
                        writer.append(value)
                    }
                }
                guard hasRow else { return }
                try writer.endRow()
                crashPoint(.fileRowWritten)
            }
        }
        crashPoint(.fileUnflushed)
        return try writer.finish()
    }
}

/// How a cell is written.
private enum ParquetCellKind: Equatable {
    /// Types without a counterpart are written as PostgreSQL's text; so are UUIDs, because Spark refuses Parquet's type UUID.
    case text
    case boolean
    case integer(ParquetColumn.ValueType)
    case moment
    case date

    init(type: String) {
        switch type {
        case "smallint", "integer": self = .integer(.int32)
        case "bigint": self = .integer(.int64)
        case "boolean": self = .boolean
        case "timestamp with time zone": self = .moment
        case "date": self = .date
        default: self = .text
        }
    }

    var parquetType: ParquetColumn.ValueType {
        switch self {
        case .text: .text
        case .boolean: .boolean
        case .integer(let type): type
        case .moment: .timestamp
        case .date: .date
        }
    }

    /// A moment or a date since 1970 instead of since 2000; `nil` for infinity, which means "never", and for moments that
    /// 64 bits cannot represent (from the year 294247 on).
    func sinceEpoch(_ value: Int64) -> Int64? {
        switch self {
        case .moment:
            guard value != .min, value != .max else { return nil }
            let (moment, overflows) = value.addingReportingOverflow(946_684_800_000_000)
            return overflows ? nil : moment
        case .date:
            return value == Int64(Int32.min) || value == Int64(Int32.max) ? nil : value + 10_957
        case .text, .boolean, .integer(_):
            return value
        }
    }
}
