import Hashing
import LedgerSchema
import SignedData

/// The identity that an unverified text claims.
///
/// Apple signs each response separately, so the same bad record has different bytes each time, but the key in its
/// payload stays the same. The claim is not verified, so it only decides whether the ledger already has this reject.
enum ClaimedRecord {
    /// The longest key that is accepted, in bytes.
    ///
    /// Apple's keys have at most 36.
    private static let longestKey = 64

    /// - Parameters:
    ///   - text: The JWS as received.
    ///   - kind: The expected kind of the record.
    /// - Returns: SHA-256 of kind and key. `nil` if the text is too long, or if its payload cannot be decoded or has no
    ///   such key.
    static func identity(of text: String, as kind: RecordKind) -> [UInt8]? {
        // Longer texts are rejected before they are read.
        guard text.utf8.count <= JWSVerifier.maximumNotificationBytes else { return nil }
        let segments = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 2, omittingEmptySubsequences: false)
        guard segments.count == 3, let payload = Base64.decodeURL(Array(segments[1]).span),
            let key = value(of: kind.keyField, in: payload)
        else { return nil }
        return SHA256.digest(of: Array("\(kind.rawValue)\n".utf8) + key)
    }

    /// The first text member with that name, at any depth.
    ///
    /// Does not use a JSON reader, because a rejected payload may not be JSON.
    private static func value(of name: String, in payload: [UInt8]) -> [UInt8]? {
        let quote = UInt8(ascii: "\"")
        guard let found = payload.firstRange(of: Array("\"\(name)\"".utf8)) else { return nil }
        var rest = payload[found.upperBound...].drop { $0 == UInt8(ascii: " ") }
        guard rest.popFirst() == UInt8(ascii: ":") else { return nil }
        rest = rest.drop { $0 == UInt8(ascii: " ") }
        guard rest.popFirst() == quote else { return nil }
        let key = rest.prefix(longestKey + 1).prefix { $0 != quote }
        return key.isEmpty || key.count > longestKey ? nil : Array(key)
    }
}
