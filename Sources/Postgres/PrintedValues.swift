import Basics

/// Parses a moment such as `2026-11-21 02:35:00.123456+00`, which PostgreSQL prints with DateStyle ISO and TimeZone UTC.
///
/// - Returns: UNIX milliseconds, rounded down; `nil` for any other text, including infinity and years BC.
package func unixMilliseconds(printed text: [UInt8]) -> Int64? {
    var rest = text[...]
    func number(_ terminator: Character?) -> Int64? {
        let digits = rest.prefix { isDigit($0) }
        guard !digits.isEmpty, digits.count <= 6 else { return nil }
        rest = rest.dropFirst(digits.count)
        if let terminator {
            guard rest.first == terminator.asciiValue else { return nil }
            rest = rest.dropFirst()
        }
        return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }
    guard let year = number("-"), let month = number("-"), let day = number(" "),
        let hour = number(":"), let minute = number(":"), let second = number(nil),
        let days = daysSince1970(year: year, month: month, day: day)
    else { return nil }
    var milliseconds: Int64 = 0
    if rest.first == UInt8(ascii: ".") {
        let digits = rest.dropFirst().prefix { isDigit($0) }
        rest = rest.dropFirst(1 + digits.count)
        let thousandths = (Array(digits) + Array(repeating: UInt8(ascii: "0"), count: 3)).prefix(3)
        milliseconds = thousandths.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }
    guard rest.elementsEqual("+00".utf8) else { return nil }
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
    return seconds * 1_000 + milliseconds
}

/// Converts a `timestamptz` in the binary format of the server.
///
/// - Returns: UNIX milliseconds, rounded down; `nil` for infinity.
func unixMilliseconds(microsecondsSince2000 moment: Int64) -> Int64? {
    guard moment != .max, moment != .min else { return nil }
    let milliseconds = moment / 1_000 - (moment % 1_000 < 0 ? 1 : 0)
    return milliseconds + 946_684_800_000
}

/// Parses a `bytea` such as `\x0a0b`, as PostgreSQL prints it with bytea_output hex.
package func byteaValue(printed text: [UInt8]) -> [UInt8]? {
    guard text.starts(with: "\\x".utf8), text.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 2 - 1)
    var high: UInt8?
    for character in text.dropFirst(2) {
        guard let digit = hexadecimalValue(ofDigit: character) else { return nil }
        if let first = high {
            bytes.append(first << 4 | digit)
            high = nil
        } else {
            high = digit
        }
    }
    return bytes
}

/// Parses a one-dimensional `text[]` such as `{a,"b,c"}`, as PostgreSQL prints it; `nil` when an element is NULL.
package func textArrayValue(printed text: [UInt8]) -> [String]? {
    guard text.first == UInt8(ascii: "{") else { return nil }
    var texts: [String] = []
    var element: [UInt8] = []
    var isQuoted = false
    var wasQuoted = false
    var isEscaped = false
    for byte in text.dropFirst() {
        if isEscaped {
            element.append(byte)
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isQuoted.toggle()
            wasQuoted = true
        } else if isQuoted {
            element.append(byte)
        } else if byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") {
            let value = String(decoding: element, as: UTF8.self)
            if !wasQuoted, value == "NULL" { return nil }
            if wasQuoted || !element.isEmpty { texts.append(value) }
            element.removeAll()
            wasQuoted = false
        } else {
            element.append(byte)
        }
    }
    return texts
}

func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
