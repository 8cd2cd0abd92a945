import Hashing

/// The three parts of a compact JWS, as the raw archive stores them.
package struct JWSParts: Sendable {
    /// The first segment's text.
    package let header: [UInt8]
    /// The second segment, decoded.
    package let payload: [UInt8]
    /// The third segment, decoded.
    package let signature: [UInt8]

    package init(header: [UInt8], payload: [UInt8], signature: [UInt8]) {
        self.header = header
        self.payload = payload
        self.signature = signature
    }

    /// The JWS exactly as Apple sent it, because strict base64url has only one text.
    package var text: String {
        let dot = [UInt8(ascii: ".")]
        let text = header + dot + Base64.encodeURL(payload) + dot + Base64.encodeURL(signature)
        return String(decoding: text, as: UTF8.self)
    }

    /// The length of ``text`` in bytes; the header is ASCII.
    var textByteCount: Int {
        header.count + Base64.urlTextCount(of: payload.count) + Base64.urlTextCount(of: signature.count) + 2
    }
}
