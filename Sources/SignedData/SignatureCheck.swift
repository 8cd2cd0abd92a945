import COpenSSL
import Hashing
import Synchronization

/// Verifies ES256 signatures of one key; any number of threads may use one instance.
///
/// With `EVP_DigestVerify`, OpenSSL 3 repeats many lookups for each signature. This class keeps contexts that are
/// already prepared; each of them is used by one thread at a time.
final class SignatureCheck: Sendable {
    private let key: KeyHandle
    private let prefix: [UInt8]
    private let idle = Mutex<[PreparedCheck]>([])

    /// - Parameters:
    ///   - key: A P-256 key; the public key is enough.
    ///   - prefix: The beginning of every message, which is hashed once.
    init(_ key: KeyHandle, prefix: [UInt8] = []) {
        self.key = key
        self.prefix = prefix
    }

    /// Whether `signature` is 64 bytes r‖s and a signature of the prefix followed by `message`.
    ///
    /// A failed check is repeated, because OpenSSL also fails when memory is short, sometimes without naming this
    /// reason.
    func accepts(_ signature: Span<UInt8>, of message: Span<UInt8>) -> Bool {
        guard let der = ECDSASignatureDER(raw: signature) else { return false }
        let prepared = idle.withLock { $0.popLast() } ?? PreparedCheck(key, prefix: prefix)
        guard prepared.accepts(der, of: message) else {
            return PreparedCheck(key, prefix: prefix).accepts(der, of: message)
        }
        idle.withLock { $0.append(prepared) }
        return true
    }
}

/// The OpenSSL objects for verifying signatures of one key, for one thread at a time.
@safe
private final class PreparedCheck: @unchecked Sendable {
    // Invariant: only the thread that took it from the idle ones uses it.
    /// The hash of the prefix, which each check copies.
    private let prefixHash: OpaquePointer
    private let hash: OpaquePointer
    private let verification: OpaquePointer
    /// Owned here, because `verification` uses it.
    private let key: KeyHandle

    init(_ key: KeyHandle, prefix: [UInt8]) {
        // Key and digest are valid, so a failure means a lack of memory.
        guard let prefixHash = unsafe EVP_MD_CTX_new(), let hash = unsafe EVP_MD_CTX_new(),
            unsafe EVP_DigestInit_ex2(prefixHash, SHA256.algorithm.pointer, nil) == 1,
            unsafe EVP_DigestUpdate(prefixHash, prefix, prefix.count) == 1,
            let verification = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil),
            unsafe EVP_PKEY_verify_init(verification) == 1,
            unsafe EVP_PKEY_CTX_set_signature_md(verification, SHA256.algorithm.pointer) == 1
        else { OpenSSLErrors.outOfMemory() }
        unsafe self.prefixHash = prefixHash
        unsafe self.hash = hash
        unsafe self.verification = verification
        self.key = key
    }

    deinit {
        unsafe EVP_PKEY_CTX_free(verification)
        unsafe EVP_MD_CTX_free(hash)
        unsafe EVP_MD_CTX_free(prefixHash)
    }

    func accepts(_ signature: ECDSASignatureDER, of message: Span<UInt8>) -> Bool {
        var digest = InlineArray<32, UInt8>(repeating: 0)
        var digestSpan = digest.mutableSpan
        unsafe digestSpan.withUnsafeMutableBufferPointer { digest in
            let isHashed = unsafe message.withUnsafeBufferPointer { message in
                unsafe EVP_MD_CTX_copy_ex(hash, prefixHash) == 1
                    && EVP_DigestUpdate(hash, message.baseAddress, message.count) == 1
                    && EVP_DigestFinal_ex(hash, digest.baseAddress, nil) == 1
            }
            guard isHashed else { OpenSSLErrors.outOfMemory() }
        }
        let result = unsafe digest.span.withUnsafeBufferPointer { digest in
            unsafe signature.withBytes { signature in
                unsafe EVP_PKEY_verify(
                    verification,
                    signature.baseAddress,
                    signature.count,
                    digest.baseAddress,
                    digest.count
                )
            }
        }
        // 1 means a valid signature, 0 an invalid and -1 a malformed one.
        guard result == 1 else {
            OpenSSLErrors.drain()
            return false
        }
        return true
    }
}
