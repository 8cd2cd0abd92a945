import FoundationEssentials
import Hashing

/// Encodes and decodes `revision` and `paginationToken`: opaque to the client, and bound to one request.
///
/// The key comes from the seed, so cursors stay valid when the simulator restarts.
struct CursorCodec: Sendable {
    private let key: [UInt8]
    /// The beginning of every cursor, `++//` in Base64.
    ///
    /// With it and the padding, every cursor contains all Base64 characters that must be percent-encoded.
    private static let prefix: [UInt8] = [0xFB, 0xEF, 0xFF]
    private static let length = prefix.count + 5 * 8

    init(seed: UInt64) {
        var random = SplitMix64(seed: seed, path: 8)
        key = (0..<4).flatMap { _ in Self.bytes(random.next()) }
    }

    struct Cursor: Equatable, Sendable {
        var position: CursorPosition
        /// Milliseconds since 1970; 0 for cursors that never expire.
        var issued: Int64
    }

    /// What a cursor is bound to: the endpoint, the customer and every filter, in one text.
    struct Binding: Equatable, Sendable {
        let text: String
    }

    func encode(_ cursor: Cursor, boundTo binding: Binding) -> String {
        let words = [
            UInt64(bitPattern: cursor.position.date), cursor.position.number, UInt64(bitPattern: cursor.issued),
            hash(Array(binding.text.utf8)),
        ]
        let body = Self.prefix + words.flatMap(Self.bytes)
        return Data(body + Self.bytes(hash(body))).base64EncodedString()
    }

    /// Returns `nil` when the simulator did not make the cursor, it was changed, or it belongs to another request.
    func decode(_ text: String, boundTo binding: Binding) -> Cursor? {
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

    /// A keyed hash, cut to 64 bits: enough to detect a cursor that was invented or changed.
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
