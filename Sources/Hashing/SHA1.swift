import COpenSSL

/// Computes SHA-1, which version 5 UUIDs use (RFC 9562).
///
/// It protects nothing.
package enum SHA1 {
    private static let algorithm = FetchedDigest("SHA1")

    /// The 20 bytes of the digest.
    package static func digest(of bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 20)
        let result = unsafe bytes.withUnsafeBytes { source in
            unsafe digest.withUnsafeMutableBufferPointer { target in
                unsafe EVP_Digest(source.baseAddress, source.count, target.baseAddress, nil, algorithm.pointer, nil)
            }
        }
        precondition(result == 1, "OpenSSL could not compute a SHA-1.")
        return digest
    }
}
