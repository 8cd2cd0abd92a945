import FoundationEssentials
import SignedData

/// Where the next page begins: behind the record with this date and number.
struct CursorPosition: Equatable, Sendable {
    var date: Int64
    /// A transaction ID, or a notification's place in the order.
    var number: UInt64
}

/// Makes and reads `revision` and `paginationToken`: opaque to the client, bound to one request.
///
/// The key comes from the seed, so a restarted simulator still knows its cursors.
struct CursorMint: Sendable {
    private let key: [UInt8]
    /// Becomes `++//` in Base64: together with the padding every cursor has all characters that must be percent-encoded.
    private static let prefix: [UInt8] = [0xFB, 0xEF, 0xFF]
    private static let length = prefix.count + 5 * 8

    init(seed: UInt64) {
        var random = SplitMix64(seed: seed, path: 8)
        key = (0..<4).flatMap { _ in Self.bytes(random.next()) }
    }

    struct Cursor: Equatable, Sendable {
        var position: CursorPosition
        /// Milliseconds since 1970; cursors that never expire need not say.
        var issued: Int64
    }

    /// What a cursor is bound to: the endpoint, the customer and every filter, as one text.
    struct Binding: Equatable, Sendable {
        let text: String
    }

    func text(of cursor: Cursor, bound binding: Binding) -> String {
        let words = [
            UInt64(bitPattern: cursor.position.date), cursor.position.number, UInt64(bitPattern: cursor.issued),
            hash(Array(binding.text.utf8)),
        ]
        let body = Self.prefix + words.flatMap(Self.bytes)
        return Data(body + Self.bytes(hash(body))).base64EncodedString()
    }

    /// `nil` when the cursor is not ours, was changed, or belongs to another request.
    func cursor(_ text: String, bound binding: Binding) -> Cursor? {
        guard let bytes = Data(base64Encoded: text).map(Array.init), bytes.count == Self.length else { return nil }
        let words = (0..<5).map { Self.word(bytes[(Self.prefix.count + $0 * 8)...].prefix(8)) }
        guard words[4] == hash(bytes.dropLast(8)), words[3] == hash(Array(binding.text.utf8)) else {
            return nil
        }
        return Cursor(
            position: CursorPosition(date: Int64(bitPattern: words[0]), number: words[1]),
            issued: Int64(bitPattern: words[2])
        )
    }

    /// A keyed hash, cut to 64 bits: enough to notice a cursor that somebody made up or changed.
    private func hash(_ message: [UInt8]) -> UInt64 {
        Self.word(SHA256.digest(of: key + SHA256.digest(of: key + message)).prefix(8))
    }

    private static func bytes(_ word: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) }
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
