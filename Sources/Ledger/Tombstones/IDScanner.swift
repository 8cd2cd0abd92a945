import Hashing
package import StrictJSON

/// Finds customer IDs in text that is not parsed, such as a rejected record.
package enum IDScanner {
    /// The fewest digits of a transaction ID to find; Apple's IDs have at least 15.
    private static let shortestID = 6
    private static let longestID = 20
    /// The fewest characters of a run that is decoded: enough for six digits.
    private static let shortestRun = 12
    /// The levels of decoding: a notification's payload, a transaction in it, and one more.
    private static let depth = 3

    /// All parts of a text that look like customer IDs.
    ///
    /// The second segment of a JWS is base64url, and in a notification it contains further JWS. So every run of
    /// base64 characters is decoded and searched too. Numbers of fewer than 6 or more than 20 digits do not count. Text
    /// that only looks like an ID is harmless, because it has no tombstone.
    package static func ids(in bytes: [UInt8]) -> Set<CustomerID> {
        var ids: Set<CustomerID> = []
        search(bytes, depth: depth, into: &ids)
        return ids
    }

    /// Searches a short readable text, such as a message, for some IDs.
    ///
    /// Unlike ``ids(in:)``, it finds IDs of any length and does not decode base64.
    ///
    /// - Parameter ids: Each as ``CustomerID/text``.
    /// - Returns: Whether any of the IDs is in the text, as a whole number or UUID.
    package static func containsAny(of ids: Set<ExactText>, in text: String) -> Bool {
        let bytes = Array(text.utf8)
        var isFound = false
        forEachRun(in: bytes, of: \.isDigit) { run in
            if ids.contains(ExactText(String(decoding: bytes[run], as: UTF8.self))) { isFound = true }
        }
        forEachAccount(in: bytes) { id in
            if ids.contains(ExactText(id.text)) { isFound = true }
        }
        return isFound
    }

    private static func search(_ bytes: [UInt8], depth: Int, into ids: inout Set<CustomerID>) {
        forEachRun(in: bytes, of: \.isDigit) { run in
            guard (shortestID...longestID).contains(run.count) else { return }
            let text = String(decoding: bytes[run], as: UTF8.self)
            ids.insert(.transaction(text))
            ids.insert(.appTransaction(text))
        }
        forEachAccount(in: bytes) { ids.insert($0) }
        guard depth > 0 else { return }
        forEachRun(in: bytes, of: \.isBase64) { run in
            guard run.count >= shortestRun else { return }
            search(decoded(bytes[run]), depth: depth - 1, into: &ids)
        }
    }

    /// Decodes base64 text, even if it was truncated: the last group is padded, and the padding is removed.
    private static func decoded(_ run: ArraySlice<UInt8>) -> [UInt8] {
        var text = run.map(\.urlSpelling)
        while !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "A")) }
        return Array((Base64.decodeURL(text.span) ?? []).prefix(run.count * 3 / 4))
    }

    /// Calls `body` with each account token, a UUID of 36 characters.
    private static func forEachAccount(in bytes: [UInt8], _ body: (CustomerID) -> Void) {
        forEachRun(in: bytes, of: { $0.isHexadecimalDigit || $0 == UInt8(ascii: "-") }) { run in
            for start in run where start + 36 <= run.upperBound {
                let uuid = String(decoding: bytes[start..<(start + 36)], as: UTF8.self)
                if let id = CustomerID.account(uuid) { body(id) }
            }
        }
    }

    /// Calls `body` with the place of each longest run of bytes that belong together.
    private static func forEachRun(
        in bytes: [UInt8],
        of belongs: (UInt8) -> Bool,
        _ body: (Range<Int>) -> Void
    ) {
        var start: Int?
        for place in 0...bytes.count {
            if place < bytes.count, belongs(bytes[place]) {
                if start == nil { start = place }
            } else if let first = start {
                body(first..<place)
                start = nil
            }
        }
    }
}

extension UInt8 {
    fileprivate var isHexadecimalDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    fileprivate var isBase64: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "+"),
            UInt8(ascii: "/"):
            true
        default: false
        }
    }

    /// Maps the two characters of standard base64 that differ from base64url.
    fileprivate var urlSpelling: UInt8 {
        switch self {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: self
        }
    }
}
