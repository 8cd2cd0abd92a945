import COpenSSL

/// ECDSA on P-256 with SHA-256, signatures as 64 bytes r‖s (RFC 7518, section 3.4).
package enum ES256 {
    package static let signatureByteCount = 64

    /// Whether `signature` is a signature of `message` under `publicKey`; `false` for a length other than 64.
    package static func verify(signature: [UInt8], message: [UInt8], publicKey: P256PublicKey) -> Bool {
        publicKey.check.accepts(signature.span, of: message.span)
    }

    /// Signs `message` with a P-256 private key.
    ///
    /// - Throws: ``SigningError`` when OpenSSL fails twice, for example for lack of memory or randomness.
    static func sign(_ message: Span<UInt8>, key: KeyHandle) throws(SigningError) -> [UInt8] {
        do {
            return try signOnce(message, key: key)
        } catch {
            // Randomness can be missing for a moment, and OpenSSL does not always report this cause.
            return try signOnce(message, key: key)
        }
    }

    private static func signOnce(_ message: Span<UInt8>, key: KeyHandle) throws(SigningError) -> [UInt8] {
        var der = [UInt8](repeating: 0, count: ECDSASignatureDER.capacity)
        guard let context = unsafe EVP_MD_CTX_new() else { throw SigningError(detail: "out of memory") }
        defer { unsafe EVP_MD_CTX_free(context) }
        var count = der.count
        let result = unsafe der.withUnsafeMutableBufferPointer { der in
            guard unsafe EVP_DigestSignInit(context, nil, SHA256.algorithm.pointer, nil, key.pointer) == 1 else {
                return Int32(0)
            }
            return unsafe message.withUnsafeBufferPointer { message in
                unsafe EVP_DigestSign(context, der.baseAddress, &count, message.baseAddress, message.count)
            }
        }
        guard result == 1, let raw = ECDSASignatureDER.raw(fromTrustedDER: der[..<count]) else {
            throw SigningError(detail: OpenSSLErrors.drain())
        }
        return raw
    }
}

/// OpenSSL could not create a signature, a key or a certificate, although the input is valid.
package struct SigningError: Error, CustomStringConvertible {
    package let detail: String

    package var description: String { "OpenSSL could not sign: \(detail)." }
}
