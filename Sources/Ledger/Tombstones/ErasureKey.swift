import Hashing

/// Makes tombstones: HMAC-SHA256 (RFC 2104) of an ID, with the key of its app.
package struct ErasureKey: Sendable {
    /// The length of a new key, in bytes.
    private static let byteCount = 32

    /// The inner padded key of HMAC, a block of 64 bytes.
    package let inner: [UInt8]
    /// The outer padded key of HMAC, a block of 64 bytes.
    package let outer: [UInt8]

    /// - Parameter key: At most 64 bytes.
    init(_ key: [UInt8]) {
        let block = key + [UInt8](repeating: 0, count: 64 - key.count)
        inner = block.map { $0 ^ 0x36 }
        outer = block.map { $0 ^ 0x5C }
    }

    /// A new key for an app.
    static func random() -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    /// The tombstone of an ID, 32 bytes: the column `mark` of `erased_marks`.
    func mark(of id: CustomerID) -> [UInt8] {
        mark(of: Array("\(id.kind.rawValue) \(id.text)".utf8))
    }

    /// HMAC-SHA256 of any text.
    func mark(of text: [UInt8]) -> [UInt8] {
        SHA256.digest(of: outer + SHA256.digest(of: inner + text))
    }

    /// The computation of a tombstone as an SQL expression, for tables that are too large to read into memory.
    ///
    /// - Parameters:
    ///   - expression: An expression of type text with an ID.
    ///   - inner: The parameter with ``inner``.
    ///   - outer: The parameter with ``outer``.
    /// - Returns: An expression of type bytea.
    package static func sqlMark(of expression: String, _ kind: CustomerID.Kind, inner: String, outer: String) -> String
    {
        "sha256(\(outer)::bytea || sha256(\(inner)::bytea || convert_to('\(kind.rawValue) ' || \(expression), 'UTF8')))"
    }
}
