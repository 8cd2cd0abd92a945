import AppStoreModel
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
        var text = prefix
        text.reserveCapacity(prefix.count + payload.count * 4 / 3 + 96)
        text.append(contentsOf: Base64.encodeURL(payload))
        let signature = try signatures.raw(of: text.span)
        text.append(UInt8(ascii: "."))
        text.append(contentsOf: Base64.encodeURL(signature))
        return text
    }
}
