/// Removes nested signing headers from archived notifications.
///
/// A notification's payload contains two whole JWS, each with the same 4 KB of certificates that the archive already
/// has. The archive replaces each known header by U+0000 and the header's number. Verified JSON never contains U+0000,
/// so ``expand(_:header:)`` restores the exact bytes.
enum HeaderSplice {
    private static let marker: UInt8 = 0

    /// - Parameters:
    ///   - payload: Verified JSON text.
    ///   - headers: Header texts and their numbers.
    /// - Returns: The bytes to archive.
    static func shorten(_ payload: [UInt8], headers: [(text: [UInt8], number: Int32)]) -> [UInt8] {
        headers.reduce(payload) { payload, header in
            replace(header.text, in: payload, with: [marker] + bigEndian(header.number))
        }
    }

    /// - Parameters:
    ///   - archived: The result of ``shorten(_:headers:)``.
    ///   - header: The text of a number; `nil` if the archive does not have it.
    /// - Returns: The payload as it was signed; `nil` if a header is missing or the bytes are truncated.
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
