/// Keeps nested signing headers out of archived notifications.
///
/// A notification's payload quotes two JWS whole, each with the same 4 KB of certificates the archive has already.
/// Where a known header stands, the archive keeps U+0000 and the header's number instead: verified JSON never holds
/// U+0000, so ``expand(_:header:)`` gives back the exact bytes.
enum HeaderSplice {
    private static let marker: UInt8 = 0

    /// - Parameters:
    ///   - payload: Verified JSON text.
    ///   - headers: Header texts and their numbers.
    /// - Returns: What the archive keeps.
    static func shorten(_ payload: [UInt8], headers: [(text: [UInt8], number: Int32)]) -> [UInt8] {
        headers.reduce(payload) { payload, header in
            replace(header.text, in: payload, with: [marker] + bigEndian(header.number))
        }
    }

    /// - Parameters:
    ///   - archived: What ``shorten(_:headers:)`` made.
    ///   - header: The text of a number, or `nil` where the archive has none.
    /// - Returns: The payload as it was signed; `nil` when a header is missing or the bytes are cut off.
    static func expand(_ archived: [UInt8], header: (Int32) throws -> [UInt8]?) rethrows -> [UInt8]? {
        guard archived.contains(marker) else { return archived }
        var payload: [UInt8] = []
        var at = 0
        while at < archived.count {
            guard archived[at] == marker else {
                payload.append(archived[at])
                at += 1
                continue
            }
            guard at + 4 < archived.count else { return nil }
            let number = archived[(at + 1)...(at + 4)].reduce(Int32(0)) { $0 << 8 | Int32($1) }
            guard let text = try header(number) else { return nil }
            payload += text
            at += 5
        }
        return payload
    }

    private static func bigEndian(_ number: Int32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func replace(_ needle: [UInt8], in hay: [UInt8], with short: [UInt8]) -> [UInt8] {
        guard let first = needle.first, needle.count <= hay.count else { return hay }
        var result: [UInt8] = []
        result.reserveCapacity(hay.count)
        var at = 0
        while at < hay.count {
            if hay[at] == first, at + needle.count <= hay.count, hay[at..<(at + needle.count)].elementsEqual(needle) {
                result += short
                at += needle.count
            } else {
                result.append(hay[at])
                at += 1
            }
        }
        return result
    }
}
