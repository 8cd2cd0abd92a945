import AppStoreModel
import Hashing
import StrictJSON

/// Signs payloads like the App Store: with ES256, and with the certificate chain in every header.
///
/// The header text is created once, so a record takes one signature. Any number of threads may use one issuer.
package struct JWSIssuer: Sendable {
    /// The first segment of every JWS.
    package let headerSegment: String
    private let prefix: [UInt8]
    private let signatures: SignatureMaker

    /// - Parameters:
    ///   - x5c: DER certificates, leaf first.
    ///   - leaf: The certificate with the signing key.
    package init(x5c: [[UInt8]], leaf: IssuedCertificate) {
        let entries = x5c.map { JSONValue.string(String(decoding: Base64.encodeStandard($0), as: UTF8.self)) }
        let header = JSONObject([
            .init(key: "alg", value: .string("ES256")),
            .init(key: "x5c", value: .array(entries)),
        ])
        self.init(headerJSON: JSONWriter.bytes(.object(header)), signatures: SignatureMaker(leaf.key))
    }

    /// Uses any header, even one that no verifier accepts.
    package init(headerJSON: [UInt8], leaf: IssuedCertificate) {
        self.init(headerJSON: headerJSON, signatures: SignatureMaker(leaf.key))
    }

    package init(headerJSON: [UInt8], key: SigningKey) {
        self.init(headerJSON: headerJSON, signatures: key.signatures)
    }

    private init(headerJSON: [UInt8], signatures: SignatureMaker) {
        let segment = Base64.encodeURL(headerJSON)
        headerSegment = String(decoding: segment, as: UTF8.self)
        prefix = segment + [UInt8(ascii: ".")]
        self.signatures = signatures
    }

    /// The compact JWS of `payload`.
    package func sign(payload: [UInt8]) throws(SigningError) -> String {
        String(decoding: try text(of: payload), as: UTF8.self)
    }

    /// The compact JWS of `payload`, as ASCII.
    package func text(of payload: [UInt8]) throws(SigningError) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(textByteCount(of: payload.count))
        try append(payload.span, to: &text)
        return text
    }

    /// Appends the compact JWS of `payload` to other text.
    func append(_ payload: Span<UInt8>, to output: inout [UInt8]) throws(SigningError) {
        let start = output.count
        output.append(contentsOf: prefix)
        Base64.appendURL(payload, to: &output)
        let signature = try signatures.raw(of: output.span.extracting(start..<output.count))
        output.append(UInt8(ascii: "."))
        Base64.appendURL(signature.span, to: &output)
    }

    /// The length of the compact JWS of a payload.
    private func textByteCount(of payload: Int) -> Int {
        prefix.count + Base64.urlTextCount(of: payload) + 1 + Base64.urlTextCount(of: ES256.signatureByteCount)
    }
}
