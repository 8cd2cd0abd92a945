import Basics
import CLibPQ

extension PostgresConnection {
    /// Loads rows with a binary `COPY`, in pieces of about 64 KiB; when it throws, no row is loaded.
    ///
    /// - Parameters:
    ///   - table: A name of the form `[a-z_][a-z0-9_]*`, resolved with the search path.
    ///   - columns: The column names in the order of the cells.
    ///   - rows: Each has one cell per column, of the column's type or NULL.
    ///   - constants: More columns, which have the same value in all rows.
    /// - Returns: The number of loaded rows.
    /// - Throws: ``PostgresError``; `countMismatch` when the server stored another number of rows, for example because of a
    ///   trigger.
    @discardableResult
    package borrowing func copyIn(
        _ table: String,
        columns: [String],
        rows: some Sequence<[Cell]>,
        constants: [(column: String, cell: Cell)] = []
    ) throws -> Int {
        guard isInTransaction else {
            return try transaction { connection in
                try connection.copyIn(table, columns: columns, rows: rows, constants: constants)
            }
        }
        var encoder = try BinaryCopyEncoder(width: columns.count, constants: constants.map(\.cell))
        let names = columns + constants.map(\.column)
        var quoted: [String] = []
        for column in names { quoted.append(try quotedIdentifier(column)) }
        let list = quoted.joined(separator: ", ")
        let sql = "COPY \(try quotedIdentifier(table)) (\(list)) FROM STDIN (FORMAT binary)"
        try refuseIfCancelled(sql)
        guard try execute(sql).isCopyIn else { preconditionFailure("COPY FROM STDIN did not begin to copy") }

        let sent: Int
        do throws(PostgresError) {
            sent = try send(rows, with: &encoder, of: sql)
        } catch {
            abandonCopyIn()
            throw error
        }
        let stored = try finishCopyIn(sql)
        guard stored == sent else {
            throw PostgresError(
                .countMismatch(sent: sent, stored: stored),
                .dataException,
                "\(sent) rows were sent and \(stored) stored",
                statement: sql
            )
        }
        return sent
    }

    private borrowing func send(
        _ rows: some Sequence<[Cell]>,
        with encoder: inout BinaryCopyEncoder,
        of sql: String
    ) throws(PostgresError) -> Int {
        for row in rows {
            try encoder.append(row)
            crashPoint(.rowCopied)
            if encoder.bytes.count >= 65_536 {
                try send(encoder.bytes, of: sql)
                encoder.removeBytes()
            }
        }
        encoder.appendTrailer()
        try send(encoder.bytes, of: sql)
        return encoder.rowCount
    }

    private borrowing func send(_ bytes: [UInt8], of sql: String) throws(PostgresError) {
        let answer = unsafe bytes.withUnsafeBytes { buffer in
            unsafe PQputCopyData(handle, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(buffer.count))
        }
        guard answer == 1 else { throw copyFailure(of: sql) }
    }

    private borrowing func finishCopyIn(_ sql: String) throws(PostgresError) -> Int {
        guard unsafe PQputCopyEnd(handle, nil) == 1 else { throw copyFailure(of: sql) }
        return try answer(of: sql).affected
    }

    private borrowing func abandonCopyIn() {
        guard unsafe PQputCopyEnd(handle, "a row could not be encoded") == 1 else { return }
        while let answer = unsafe PQgetResult(handle) { unsafe PQclear(answer) }
    }

    /// Streams the result of a query in the text format of `COPY`, one row per call of `body`.
    ///
    /// ``CopyTextRow`` splits such a row. When `body` throws, the query is cancelled and the remaining rows are discarded;
    /// an open transaction has then failed.
    ///
    /// - Parameters:
    ///   - sql: A `SELECT`, without parameters.
    ///   - body: Gets the bytes of one row with its line feed, valid during the call.
    /// - Throws: The error of `body`; ``PostgresError`` of the query.
    package borrowing func copyOut(_ sql: String, _ body: (Span<UInt8>) throws -> Void) throws {
        try copyOut(statement: "COPY (\(sql)) TO STDOUT", body)
    }

    /// Streams the result of a query in the binary format of `COPY`, one message per call of `body`.
    ///
    /// ``CopyBinaryRow`` splits such messages. Otherwise as ``copyOut(_:_:)``.
    package borrowing func copyOutBinary(_ sql: String, _ body: (Span<UInt8>) throws -> Void) throws {
        try copyOut(statement: "COPY (\(sql)) TO STDOUT (FORMAT binary)", body)
    }

    private borrowing func copyOut(statement copy: String, _ body: (Span<UInt8>) throws -> Void) throws {
        guard !needsTransaction else { return try transaction { try $0.copyOut(statement: copy, body) } }
        try refuseIfCancelled(copy)
        guard try execute(copy).isCopyOut else { preconditionFailure("COPY TO STDOUT did not begin to copy") }
        do {
            while try readRow(of: copy, body) {}
        } catch {
            canceler.cancelNow()
            discardCopyOut()
            throw error
        }
        _ = try answer(of: copy)
    }

    /// - Returns: Whether there was a row.
    private borrowing func readRow(of sql: String, _ body: (Span<UInt8>) throws -> Void) throws -> Bool {
        var row: UnsafeMutablePointer<CChar>?
        let length = unsafe PQgetCopyData(handle, &row, 0)
        guard length >= 0, let row = unsafe row else {
            guard length == -1 else { throw copyFailure(of: sql) }
            return false
        }
        defer { unsafe PQfreemem(row) }
        try unsafe row.withMemoryRebound(to: UInt8.self, capacity: Int(length)) { bytes in
            let buffer = unsafe UnsafeBufferPointer(start: bytes, count: Int(length))
            try body(unsafe buffer.span)
        }
        return true
    }

    private borrowing func discardCopyOut() {
        var row: UnsafeMutablePointer<CChar>?
        while unsafe PQgetCopyData(handle, &row, 0) > 0 { unsafe PQfreemem(row) }
        while let answer = unsafe PQgetResult(handle) { unsafe PQclear(answer) }
    }

    private borrowing func copyFailure(of sql: String) -> PostgresError {
        let message = unsafe PQerrorMessage(handle).map { unsafe String(cString: $0) } ?? "COPY ended without a reason"
        return PostgresError(.connection, .connectionFailure, message, statement: sql)
    }
}
