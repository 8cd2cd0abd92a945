import LedgerSchema
import SignedData

/// Which record a text claims to be that is not believed.
///
/// Apple signs each answer when it is requested, so the same bad record has other bytes each time; the key in its payload stays. The claim
/// proves nothing and decides nothing about the data: it only tells whether the ledger has this reject already.
enum ClaimedRecord {
    /// The longest key that is taken for one, in bytes; Apple's have at most 36.
    private static let longestKey = 64

    /// - Parameters:
    ///   - text: A JWS, as it came.
    ///   - kind: What it was to be verified as.
    /// - Returns: SHA-256 of kind and key; `nil` where the text is too long, or its payload does not decode or holds no
    ///   such key.
    static func identity(of text: String, as kind: RecordKind) -> [UInt8]? {
        // What is longer was refused before it was read.
        guard text.utf8.count <= JWSVerifier.maximumNotificationBytes else { return nil }
        let segments = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 2, omittingEmptySubsequences: false)
        guard segments.count == 3, let payload = Base64.decodeURL(Array(segments[1]).span),
            let key = value(of: kind.keyField, in: payload)
        else { return nil }
        return SHA256.digest(of: Array("\(kind.rawValue)\n".utf8) + key)
    }

    /// The first text member of that name, wherever it stands.
    ///
    /// No JSON reader: what is rejected need not be JSON.
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
