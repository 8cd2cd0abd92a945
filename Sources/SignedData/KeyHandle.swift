import COpenSSL

/// Owns one OpenSSL key, public or private.
@safe
final class KeyHandle: @unchecked Sendable {
    // Invariant: the key is complete and only read. OpenSSL allows any number of threads to verify and sign with one
    // EVP_PKEY, each with its own context.
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    deinit { unsafe EVP_PKEY_free(pointer) }

    /// The public key as a SubjectPublicKeyInfo in DER; empty when OpenSSL cannot encode it.
    var publicKeyInfo: [UInt8] {
        OpenSSLBytes.collect { unsafe i2d_PUBKEY(pointer, $0) }
    }
}

/// The two-call protocol of OpenSSL's `i2d_…` functions.
enum OpenSSLBytes {
    /// Calls once for the length and once for the bytes; empty when a call fails.
    @safe
    static func collect(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
        let count = write(nil)
        guard count > 0 else {
            OpenSSLErrors.drain()
            return []
        }
        var bytes = [UInt8](repeating: 0, count: Int(count))
        let written = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe write(&cursor)
        }
        return written == count ? bytes : []
    }
}
