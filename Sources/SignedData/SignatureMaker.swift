import COpenSSL
import Hashing
import Synchronization

/// Creates ES256 signatures with one key; any number of threads may use one instance.
///
/// With `EVP_DigestSign`, OpenSSL 3 repeats many lookups for each signature. This class keeps contexts that are
/// already prepared, as ``SignatureCheck`` does; each of them is used by one thread at a time.
final class SignatureMaker: Sendable {
    private let key: KeyHandle
    private let idle = Mutex<[PreparedSigning]>([])

    /// - Parameter key: A P-256 private key.
    init(_ key: KeyHandle) {
        self.key = key
    }

    /// 64 bytes r‖s over the SHA-256 of `message`.
    ///
    /// - Throws: ``SigningError`` when OpenSSL fails twice, for example for lack of memory or randomness.
    func raw(of message: Span<UInt8>) throws(SigningError) -> InlineArray<64, UInt8> {
        guard let raw = try der(of: message).raw else {
            throw SigningError(detail: "the key is not a P-256 key")
        }
        return raw
    }

    /// The same signature in OpenSSL's form, `SEQUENCE { INTEGER r, INTEGER s }` in DER.
    ///
    /// - Throws: As ``raw(of:)``.
    func der(of message: Span<UInt8>) throws(SigningError) -> ECDSASignatureDER {
        let prepared = idle.withLock { $0.popLast() } ?? PreparedSigning(key)
        if let prepared, let der = prepared.der(of: message) {
            idle.withLock { $0.append(prepared) }
            return der
        }
        // Randomness can be missing for a moment, and OpenSSL does not always report this cause.
        OpenSSLErrors.drain()
        guard let der = PreparedSigning(key)?.der(of: message) else {
            throw SigningError(detail: OpenSSLErrors.drain())
        }
        return der
    }
}

/// The OpenSSL objects for signing with one key, for one thread at a time.
@safe
private final class PreparedSigning: @unchecked Sendable {
    // Invariant: only the thread that took it from the idle ones uses it.
    private let hash: OpaquePointer
    private let signing: OpaquePointer
    /// Owned here, because `signing` uses it.
    private let key: KeyHandle

    /// `nil` when OpenSSL cannot sign with the key; its error queue says why.
    init?(_ key: KeyHandle) {
        guard let hash = unsafe EVP_MD_CTX_new() else { return nil }
        guard let signing = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else {
            unsafe EVP_MD_CTX_free(hash)
            return nil
        }
        guard unsafe EVP_PKEY_sign_init(signing) == 1,
            unsafe EVP_PKEY_CTX_set_signature_md(signing, SHA256.algorithm.pointer) == 1
        else {
            unsafe EVP_PKEY_CTX_free(signing)
            unsafe EVP_MD_CTX_free(hash)
            return nil
        }
        unsafe self.hash = hash
        unsafe self.signing = signing
        self.key = key
    }

    deinit {
        unsafe EVP_PKEY_CTX_free(signing)
        unsafe EVP_MD_CTX_free(hash)
    }

    /// `nil` when OpenSSL fails; its error queue says why.
    func der(of message: Span<UInt8>) -> ECDSASignatureDER? {
        var digest = InlineArray<32, UInt8>(repeating: 0)
        var digestSpan = digest.mutableSpan
        let isHashed = unsafe digestSpan.withUnsafeMutableBufferPointer { digest in
            unsafe message.withUnsafeBufferPointer { message in
                unsafe EVP_DigestInit_ex2(hash, SHA256.algorithm.pointer, nil) == 1
                    && EVP_DigestUpdate(hash, message.baseAddress, message.count) == 1
                    && EVP_DigestFinal_ex(hash, digest.baseAddress, nil) == 1
            }
        }
        guard isHashed else { return nil }
        return unsafe digest.span.withUnsafeBufferPointer { digest in
            ECDSASignatureDER { der, count in
                unsafe EVP_PKEY_sign(signing, der, &count, digest.baseAddress, digest.count) == 1
            }
        }
    }
}
