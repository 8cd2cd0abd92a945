import Basics
import COpenSSL

/// A P-256 private key: from App Store Connect's .p8 file, or created here.
@safe
package struct SigningKey: Sendable, CustomStringConvertible, CustomReflectable {
    let handle: KeyHandle
    let signatures: SignatureMaker

    init(handle: KeyHandle) {
        self.handle = handle
        signatures = SignatureMaker(handle)
    }

    /// A new random key.
    package static func generate() throws(CertificateError) -> SigningKey {
        SigningKey(handle: try KeyKind.p256.generate())
    }

    /// The PKCS#8 PEM text, as in a .p8 file.
    package var pem: Secret<String> {
        var der = PrivateKeyInfo.der(of: handle)
        defer { der.cleanse() }
        return Secret(PEMBlock.text(label: PrivateKeyInfo.label, content: der))
    }

    package var publicKey: P256PublicKey { P256PublicKey(handle: handle) }

    /// 64 bytes r‖s over the SHA-256 of `message`.
    package func signature(of message: [UInt8]) throws(SigningError) -> [UInt8] {
        let raw = try signatures.raw(of: message.span)
        return [UInt8](copying: raw.span)
    }

    package var description: String { "<P-256 private key>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// PKCS#8 (RFC 5958), without encryption.
enum PrivateKeyInfo {
    static let label = "PRIVATE KEY"

    static func der(of key: KeyHandle) -> [UInt8] {
        guard let info = unsafe EVP_PKEY2PKCS8(key.pointer) else {
            OpenSSLErrors.drain()
            return []
        }
        defer { unsafe PKCS8_PRIV_KEY_INFO_free(info) }
        return OpenSSLBytes.collect { unsafe i2d_PKCS8_PRIV_KEY_INFO(info, $0) }
    }

    /// Parses a key whose algorithm was checked before; `nil` when OpenSSL cannot parse it.
    static func key(der: [UInt8]) -> KeyHandle? {
        let info = unsafe der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe d2i_PKCS8_PRIV_KEY_INFO(nil, &cursor, buffer.count)
        }
        guard let info = unsafe info else {
            OpenSSLErrors.drain()
            return nil
        }
        defer { unsafe PKCS8_PRIV_KEY_INFO_free(info) }
        guard let key = unsafe EVP_PKCS82PKEY(info) else {
            OpenSSLErrors.drain()
            return nil
        }
        return unsafe KeyHandle(owning: key)
    }
}
