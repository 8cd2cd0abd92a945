import AppStoreModel
import Basics
import Hashing
import StrictJSON

/// The content of Apple's JWS header: ES256 and a chain of three certificates.
struct JWSHeader {
    /// Three DER certificates, leaf first, not parsed yet.
    let x5c: [[UInt8]]

    /// The longest header text in bytes; Apple's have about 4,400.
    static let maximumTextByteCount = 24 * 1_024

    /// Reads a header and checks everything except the certificates.
    ///
    /// - Parameter text: The header segment.
    /// - Throws: ``JWSRejection`` with the first rule that the header breaks.
    init(text: Span<UInt8>) throws(JWSRejection) {
        let members = try Self.members(text: text)
        guard let alg = members["alg"]?.string else {
            throw JWSRejection(.header, "The header's alg is missing or not a string.")
        }
        guard alg == "ES256" else {
            throw JWSRejection(
                .alg,
                "alg is \(printable(alg, limit: 40, asciiOnly: true, quoted: true)); it must be \"ES256\"."
            )
        }
        guard members["crit"] == nil, members["b64"] == nil else {
            throw JWSRejection(.crit, "The header has crit or b64; no such extension is supported.")
        }
        guard let entries = members["x5c"]?.array else {
            throw JWSRejection(.header, "The header's x5c is missing or not an array.")
        }
        guard entries.count == 3 else {
            throw JWSRejection(.x5cLength, "x5c has \(entries.count) certificates; it must have 3.")
        }
        var x5c: [[UInt8]] = []
        for (index, entry) in entries.enumerated() {
            guard let text = entry.string else { throw JWSRejection(.header, "x5c[\(index)] is not a string.") }
            guard let der = Base64.decodeStandard(text.utf8.span), !der.isEmpty else {
                throw JWSRejection(.x5c, "x5c[\(index)] is not strict base64.")
            }
            guard der.count <= Certificate.maximumByteCount else {
                throw JWSRejection(.x5c, "x5c[\(index)] is longer than \(Certificate.maximumByteCount) bytes.")
            }
            x5c.append(der)
        }
        self.x5c = x5c
    }

    /// Decodes the JSON of a header segment without checking its content.
    static func members(text: Span<UInt8>) throws(JWSRejection) -> JSONElement {
        guard text.count <= maximumTextByteCount else {
            throw JWSRejection(
                .headerSize,
                "The header has \(text.count) bytes; at most \(maximumTextByteCount) are read."
            )
        }
        guard let bytes = Base64.decodeURL(text) else {
            throw JWSRejection(.base64, "The header is not strict base64url.")
        }
        return try JSONElement.strictObject(bytes, in: "header")
    }
}

extension JSONElement {
    /// Reads `bytes` as one strict JSON object.
    static func strictObject(_ bytes: [UInt8], in part: String) throws(JWSRejection) -> JSONElement {
        let value: JSONElement
        do { value = try StrictJSON.scan(bytes) } catch {
            let reason: JWSRejection.Reason =
                switch error.reason {
                case .encoding: .encoding
                case .duplicateKey: .duplicateKey
                case .nul: .nul
                case .json: .json
                case .depth: .jsonDepth
                case .size: .size
                }
            throw JWSRejection(reason, "The \(part) is not acceptable JSON: \(error).")
        }
        guard value.isObject else { throw JWSRejection(.json, "The \(part) is not a JSON object.") }
        return value
    }
}
