import AppStoreModel
import SignedData
import StrictJSON

/// SHA-256 of what a payload says, without the moment at which it was signed.
///
/// Apple signs each answer when it is requested. So the same record has another `signedDate`, and other bytes, in every
/// answer. Two payloads of one record have the same digest exactly when their bytes differ in the digits of the signing
/// date alone.
enum ContentDigest {
    /// - Parameters:
    ///   - payload: A verified payload.
    ///   - nested: The signed texts inside it, which Apple may sign again as well: each string, and the digest of what it says.
    /// - Returns: 32 bytes.
    static func make(of payload: VerifiedPayload, nested: [(text: JSONElement, digest: [UInt8])] = []) -> [UInt8] {
        var replaced = nested.map { (range: $0.text.textRange, bytes: $0.digest) }
        if let date = signingDate(of: payload) { replaced.append((date.textRange, [])) }
        guard !replaced.isEmpty else { return payload.payloadSHA256 }
        replaced.sort { $0.range.lowerBound < $1.range.lowerBound }
        var content: [UInt8] = []
        content.reserveCapacity(payload.payload.count)
        var next = 0
        for part in replaced {
            content += payload.payload[next..<part.range.lowerBound]
            content += part.bytes
            next = part.range.upperBound
        }
        content += payload.payload[next...]
        return SHA256.digest(of: content)
    }

    /// The signing date where it is written as an integer, as Apple writes it.
    ///
    /// Only then can the payload of a later signature be made from an earlier one by putting in other digits.
    private static func signingDate(of payload: VerifiedPayload) -> JSONElement? {
        guard !payload.signedDateWasInexact else { return nil }
        return payload.json["signedDate"] ?? payload.json["receiptCreationDate"]
    }
}
