import COpenSSL

/// ECDSA on P-256 with SHA-256, signatures as 64 bytes r‖s (RFC 7518, section 3.4).
package enum ES256 {
    package static let signatureByteCount = 64

    /// Whether `signature` is `publicKey`'s signature of `message`; `false` also for a length other than 64.
    package static func verify(signature: [UInt8], message: [UInt8], publicKey: P256PublicKey) -> Bool {
        verify(signature: signature, message: message.span, key: publicKey.handle)
    }

    /// Asks again after a no: OpenSSL says it too, at times without a reason, where it lacks memory.
    static func verify(signature: [UInt8], message: Span<UInt8>, key: KeyHandle) -> Bool {
        isValid(signature, of: message, key) || isValid(signature, of: message, key)
    }

    private static func isValid(_ signature: [UInt8], of message: Span<UInt8>, _ key: KeyHandle) -> Bool {
        guard let der = ECDSASignatureDER(raw: signature.span) else { return false }
        guard let context = unsafe EVP_MD_CTX_new() else { OpenSSLErrors.outOfMemory() }
        defer { unsafe EVP_MD_CTX_free(context) }
        let result = unsafe message.withUnsafeBufferPointer { message in
            unsafe der.withBytes { signature in
                // The key and the digest are as they should be, so there is nothing else that it can lack.
                guard unsafe EVP_DigestVerifyInit(context, nil, SHA256.algorithm.pointer, nil, key.pointer) == 1 else {
                    OpenSSLErrors.outOfMemory()
                }
                return unsafe EVP_DigestVerify(
                    context,
                    signature.baseAddress,
                    signature.count,
                    message.baseAddress,
                    message.count
                )
            }
        }
        // 0 is a wrong signature and -1 a malformed one: only 1 is a yes.
        guard result == 1 else {
            OpenSSLErrors.drain()
            return false
        }
        return true
    }

    /// Signs `message` with a P-256 private key.
    ///
    /// - Throws: ``SigningError`` when OpenSSL cannot sign: no memory, no randomness.
    static func sign(_ message: Span<UInt8>, key: KeyHandle) throws(SigningError) -> [UInt8] {
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

/// OpenSSL could not make a signature, a key or a certificate; nothing about the input is wrong.
package struct SigningError: Error, CustomStringConvertible {
    package let detail: String

    package var description: String { "OpenSSL could not sign: \(detail)." }
}
