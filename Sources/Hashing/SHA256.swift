import COpenSSL

/// Computes a SHA-256 in steps; ``digest(of:)`` computes it in one call.
@safe
package struct SHA256: ~Copyable {
    package static let byteCount = 32

    /// Fetched once, because finding an algorithm by name in OpenSSL 3 takes longer than hashing a small record.
    package static let algorithm = FetchedDigest("SHA256")

    private let context: OpaquePointer

    package init() {
        guard let context = unsafe EVP_MD_CTX_new(),
            unsafe EVP_DigestInit_ex(context, Self.algorithm.pointer, nil) == 1
        else { preconditionFailure("OpenSSL could not begin a SHA-256: it is out of memory, or has no SHA-256.") }
        unsafe self.context = context
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    package mutating func update(_ bytes: Span<UInt8>) {
        let result = unsafe bytes.withUnsafeBufferPointer { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        precondition(result == 1, "OpenSSL could not continue a SHA-256.")
    }

    package mutating func update(_ bytes: [UInt8]) {
        update(bytes.span)
    }

    /// The 32 bytes of the digest; no other method may be called afterwards.
    package consuming func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Self.byteCount)
        let result = unsafe digest.withUnsafeMutableBufferPointer {
            unsafe EVP_DigestFinal_ex(context, $0.baseAddress, nil)
        }
        precondition(result == 1, "OpenSSL could not finish a SHA-256.")
        return digest
    }

    package static func digest(of bytes: [UInt8]) -> [UInt8] { digest(of: bytes.span) }

    package static func digest(of bytes: Span<UInt8>) -> [UInt8] {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finish()
    }
}

/// A digest algorithm that lives as long as the process.
@safe
package struct FetchedDigest: @unchecked Sendable {
    // Invariant: OpenSSL does not change a fetched EVP_MD, and this one is never freed.
    package let pointer: OpaquePointer

    init(_ name: String) {
        guard let pointer = unsafe EVP_MD_fetch(nil, name, nil) else {
            preconditionFailure("OpenSSL has no \(name).")
        }
        unsafe self.pointer = pointer
    }
}
