import AppStoreModel
import COpenSSL
import Platform

/// A parsed X.509 certificate with a key on a named curve.
@safe
final class Certificate: @unchecked Sendable {
    // Invariant: not changed after `init`, which also makes OpenSSL fill the fields that it computes lazily.
    let pointer: OpaquePointer
    let der: [UInt8]
    /// The public key's AlgorithmIdentifier: ``KeyAlgorithm/p256`` or ``KeyAlgorithm/p384``.
    let keyAlgorithm: [UInt8]
    /// The period in which the certificate is valid, including both ends.
    let validity: ClosedRange<UnixMilliseconds>

    /// Three times the size of Apple's largest certificate.
    static let maximumByteCount = 4_096

    enum Defect: Error {
        case tooLong
        case notACertificate
        /// The key is not on P-256 or P-384, or the curve is not given by name. Such a key is not passed to OpenSSL.
        case unsupportedKey
    }

    init(der: [UInt8]) throws(Defect) {
        guard der.count <= Self.maximumByteCount else { throw .tooLong }
        guard let algorithm = KeyAlgorithm.ofCertificate(der) else { throw .notACertificate }
        guard algorithm == KeyAlgorithm.p256 || algorithm == KeyAlgorithm.p384 else { throw .unsupportedKey }
        let parsed = unsafe der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe d2i_X509(nil, &cursor, buffer.count)
        }
        guard let parsed = unsafe parsed else {
            OpenSSLErrors.drain()
            throw .notACertificate
        }
        // Makes OpenSSL parse the extensions and hash the certificate, so that several threads can read it later.
        guard unsafe X509_check_purpose(parsed, -1, 0) == 1,
            let begin = unsafe Self.moment(X509_get0_notBefore(parsed)),
            let end = unsafe Self.moment(X509_get0_notAfter(parsed)),
            begin <= end
        else {
            OpenSSLErrors.drain()
            unsafe X509_free(parsed)
            throw .notACertificate
        }
        unsafe pointer = parsed
        self.der = der
        keyAlgorithm = algorithm
        validity = begin...end
    }

    deinit { unsafe X509_free(pointer) }

    /// Whether valid basicConstraints and keyUsage extensions allow it to issue certificates.
    var isAuthority: Bool {
        unsafe X509_get_extension_flags(pointer) & UInt32(EXFLAG_INVALID) == 0 && X509_check_ca(pointer) == 1
    }

    /// Whether any extension, including obsolete ones, marks it as a certificate authority.
    var looksLikeAuthority: Bool {
        unsafe X509_get_extension_flags(pointer) & UInt32(EXFLAG_CA) != 0 || X509_check_ca(pointer) != 0
    }

    /// Whether issuer and subject are the same and the key identifiers match.
    var isSelfSigned: Bool { unsafe X509_get_extension_flags(pointer) & UInt32(EXFLAG_SS) != 0 }

    /// Whether keyUsage allows signatures; true without this extension.
    var maySign: Bool { unsafe X509_get_key_usage(pointer) & UInt32(KU_DIGITAL_SIGNATURE) != 0 }

    /// Whether the certificate has an extension of this type.
    func hasExtension(_ identifier: String) -> Bool {
        guard let object = unsafe OBJ_txt2obj(identifier, 1) else {
            preconditionFailure("\(identifier) is not an OID.")
        }
        defer { unsafe ASN1_OBJECT_free(object) }
        return unsafe X509_get_ext_by_OBJ(pointer, object, -1) >= 0
    }

    /// The public key, or `nil` when its point is not on the curve.
    func publicKey() -> KeyHandle? {
        guard let key = unsafe X509_get_pubkey(pointer) else {
            OpenSSLErrors.drain()
            return nil
        }
        return unsafe KeyHandle(owning: key)
    }

    private static func moment(_ time: UnsafePointer<ASN1_TIME>?) -> UnixMilliseconds? {
        var parts = unsafe tm()
        guard let time = unsafe time, unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        return UnixMilliseconds(rawValue: Int64(unsafe timegm(&parts)) * 1_000)
    }
}
