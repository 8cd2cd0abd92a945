/// ECDSA on P-256 with SHA-256, signatures as 64 bytes r‖s (RFC 7518, section 3.4).
package enum ES256 {
    package static let signatureByteCount = 64

    /// Whether `signature` is a signature of `message` under `publicKey`; `false` for a length other than 64.
    package static func verify(signature: [UInt8], message: [UInt8], publicKey: P256PublicKey) -> Bool {
        publicKey.check.accepts(signature.span, of: message.span)
    }
}

/// OpenSSL could not create a signature, a key or a certificate, although the input is valid.
package struct SigningError: Error, CustomStringConvertible {
    package let detail: String

    package var description: String { "OpenSSL could not sign: \(detail)." }
}
