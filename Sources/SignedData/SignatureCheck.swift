import COpenSSL
import Synchronization

/// Checks ES256 signatures of one key; any number of threads may use one.
///
/// OpenSSL 3 looks up much that `EVP_DigestVerify` needs each time anew, so what it found is kept, and lent to one
/// thread at a time.
final class SignatureCheck: Sendable {
    private let key: KeyHandle
    private let opening: [UInt8]
    private let idle = Mutex<[PreparedCheck]>([])

    /// - Parameters:
    ///   - key: A P-256 key; its public half is enough.
    ///   - opening: How every message begins: hashed once.
    init(_ key: KeyHandle, opening: [UInt8] = []) {
        self.key = key
        self.opening = opening
    }

    /// Whether `signature` is 64 bytes r‖s that the key's owner made of the opening with `message` behind it.
    ///
    /// Asks again after a no: OpenSSL says it too, at times without a reason, where it lacks memory.
    func accepts(_ signature: Span<UInt8>, of message: Span<UInt8>) -> Bool {
        guard let der = ECDSASignatureDER(raw: signature) else { return false }
        let prepared = idle.withLock { $0.popLast() } ?? PreparedCheck(key, opening: opening)
        guard prepared.accepts(der, of: message) else {
            return PreparedCheck(key, opening: opening).accepts(der, of: message)
        }
        idle.withLock { $0.append(prepared) }
        return true
    }
}

/// What one thread at a time needs to check signatures of one key.
@safe
private final class PreparedCheck: @unchecked Sendable {
    // Invariant: only the thread that took it out of the idle ones uses it.
    private let opened: OpaquePointer
    private let hash: OpaquePointer
    private let verification: OpaquePointer
    /// Kept alive for `verification`.
    private let key: KeyHandle

    init(_ key: KeyHandle, opening: [UInt8]) {
        // The key and the digest are as they should be, so there is nothing else that it can lack.
        guard let opened = unsafe EVP_MD_CTX_new(), let hash = unsafe EVP_MD_CTX_new(),
            unsafe EVP_DigestInit_ex2(opened, SHA256.algorithm.pointer, nil) == 1,
            unsafe EVP_DigestUpdate(opened, opening, opening.count) == 1,
            let verification = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil),
            unsafe EVP_PKEY_verify_init(verification) == 1,
            unsafe EVP_PKEY_CTX_set_signature_md(verification, SHA256.algorithm.pointer) == 1
        else { OpenSSLErrors.outOfMemory() }
        unsafe self.opened = opened
        unsafe self.hash = hash
        unsafe self.verification = verification
        self.key = key
    }

    deinit {
        unsafe EVP_PKEY_CTX_free(verification)
        unsafe EVP_MD_CTX_free(hash)
        unsafe EVP_MD_CTX_free(opened)
    }

    func accepts(_ signature: ECDSASignatureDER, of message: Span<UInt8>) -> Bool {
        var digest = InlineArray<32, UInt8>(repeating: 0)
        var digestSpan = digest.mutableSpan
        unsafe digestSpan.withUnsafeMutableBufferPointer { digest in
            let isHashed = unsafe message.withUnsafeBufferPointer { message in
                unsafe EVP_MD_CTX_copy_ex(hash, opened) == 1
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
        // 0 is a wrong signature and -1 a malformed one: only 1 is a yes.
        guard result == 1 else {
            OpenSSLErrors.drain()
            return false
        }
        return true
    }
}
