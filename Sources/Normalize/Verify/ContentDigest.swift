import AppStoreModel
import Hashing
import SignedData
import StrictJSON

/// SHA-256 of a payload without its signing date.
///
/// Apple signs each response separately, so the same record has another `signedDate`, and other bytes, in every
/// response. Two payloads of one record have the same digest if, and only if, their bytes differ in nothing but the
/// digits of the signing date.
enum ContentDigest {
    /// - Parameter nested: The signed texts inside it, which Apple may also sign again: each string, and the digest
    ///   of its payload.
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

    /// The signing date if it is written as an integer, as Apple does.
    ///
    /// Only then can the payloads of two responses be the same except for these digits.
    private static func signingDate(of payload: VerifiedPayload) -> JSONElement? {
        guard !payload.signedDateWasInexact else { return nil }
        return payload.json["signedDate"] ?? payload.json["receiptCreationDate"]
    }
}
