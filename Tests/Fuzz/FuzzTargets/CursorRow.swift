import AppStoreAPI
import AppStoreModel
import Glibc
import Postgres

extension FuzzTarget {
    /// A work item's row and its cursor: what goes into PostgreSQL and into a URL is what comes out again.
    ///
    /// The first byte chooses the direction; PostgreSQL's own half is written here a second time, after its manual.
    static let cursorRow = FuzzTarget(name: "cursor-row", longestInput: 1_024) { input in
        var reader = InputReader(input)
        switch reader.byte() % 4 {
        case 0:
            try checkSent(String(decoding: reader.remaining(), as: UTF8.self))
        case 1:
            try checkCopied(reader.remaining())
        case 2:
            // Any milliseconds of the years 1 to 9999.
            let span = 62_135_596_800_000 + 253_402_300_800_000
            let moment = Int64(UInt64(bitPattern: reader.int64()) % UInt64(span)) - 62_135_596_800_000
            let read = unixMilliseconds(printed: Array(printed(moment).utf8))
            try promise(read == moment, "\(moment) is printed \(printed(moment)) and read \(read ?? 0)")
        default:
            let text = reader.remaining()
            _ = unixMilliseconds(printed: text)
            _ = textArrayValue(printed: text)
            let hex = "\\x" + text.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            try promise(byteaValue(printed: Array(hex.utf8)) == text, "a bytea comes back changed")
            if let bytes = byteaValue(printed: text) { try promise(bytes.count * 2 + 2 == text.count, "a cut bytea") }
            let texts = text.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
            try promise(textArrayValue(printed: Array(printed(texts).utf8)) == texts, "a text[] comes back changed")
        }
    }

    /// A cursor as it goes into the next request's URL and into the item's row.
    private static func checkSent(_ cursor: String) throws {
        let encoded = Array(cursor.percentEncoded.utf8)
        var decoded: [UInt8] = []
        var at = 0
        while at < encoded.count {
            let digits = String(decoding: encoded[at...].dropFirst().prefix(2), as: UTF8.self)
            if encoded[at] == UInt8(ascii: "%"), let byte = UInt8(digits, radix: 16) {
                decoded.append(byte)
                at += 3
            } else {
                try promise(isUnreserved(encoded[at]), "the byte \(encoded[at]) in a URL")
                decoded.append(encoded[at])
                at += 1
            }
        }
        try promise(decoded == Array(cursor.utf8), "the server would read another cursor")

        var encoder = try BinaryCopyEncoder(width: 1)
        encoder.removeBytes()
        let hasNUL = cursor.utf8.contains(0)
        do {
            try encoder.append([.text(cursor)])
            let length = cursor.utf8.count
            let count = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
            try promise(encoder.bytes == [0, 1] + count + Array(cursor.utf8), "another text is stored")
            try promise(!hasNUL, "a text with U+0000 is sent")
        } catch is PostgresError {
            try promise(hasNUL, "PostgreSQL would take this text")
        }
    }

    /// `COPY`'s text format: cells are split at line feeds, and byte 1 stands for NULL.
    private static func checkCopied(_ input: [UInt8]) throws {
        let cells = input.split(separator: 0x0A, omittingEmptySubsequences: false).map { $0 == [1] ? nil : Array($0) }
        let line = cells.map { cell in cell.map(copied) ?? Array(#"\N"#.utf8) }.joined(separator: [0x09]) + [0x0A]
        var read: [[UInt8]?] = []
        var row = CopyTextRow()
        row.forEachCell(of: Array(line).span) { place, cell in
            var bytes: [UInt8]?
            if let cell { bytes = cell.indices.map { cell[$0] } }
            read.append(bytes)
        }
        try promise(read == cells, "a row comes back changed")
        // What PostgreSQL never writes must do no harm.
        row.forEachCell(of: input.span) { _, _ in }
    }

    private static func copied(_ cell: [UInt8]) -> [UInt8] {
        cell.flatMap { byte -> [UInt8] in
            switch byte {
            case 0x08: Array(#"\b"#.utf8)
            case 0x0C: Array(#"\f"#.utf8)
            case 0x0A: Array(#"\n"#.utf8)
            case 0x0D: Array(#"\r"#.utf8)
            case 0x09: Array(#"\t"#.utf8)
            case 0x0B: Array(#"\v"#.utf8)
            case UInt8(ascii: "\\"): Array(#"\\"#.utf8)
            default: [byte]
            }
        }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x41...0x5A, 0x61...0x7A, 0x30...0x39: true
        default: "-._~".utf8.contains(byte)
        }
    }

    /// As PostgreSQL prints a `timestamptz`: `2026-11-21 02:35:00.25+00`.
    private static func printed(_ moment: Int64) -> String {
        let thousandths = ((moment % 1_000) + 1_000) % 1_000
        var seconds = time_t((moment - thousandths) / 1_000)
        var parts = unsafe tm()
        unsafe gmtime_r(&seconds, &parts)
        func padded(_ number: Int32, _ width: Int = 2) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        var fraction = thousandths == 0 ? "" : "." + padded(Int32(thousandths), 3)
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return unsafe "\(padded(parts.tm_year + 1_900, 4))-\(padded(parts.tm_mon + 1))-\(padded(parts.tm_mday)) "
            + "\(padded(parts.tm_hour)):\(padded(parts.tm_min)):\(padded(parts.tm_sec))\(fraction)+00"
    }

    /// As `array_out` prints it: an element is quoted when it has to be.
    private static func printed(_ texts: [String]) -> String {
        let elements = texts.map { text in
            text.utf8.allSatisfy { (0x61...0x7A).contains($0) } && text != "null" ? text : quoted(text)
        }
        return "{" + elements.joined(separator: ",") + "}"
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }
        return "\"" + escaped.joined() + "\""
    }
}
