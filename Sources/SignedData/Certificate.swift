import AppStoreModel
import COpenSSL
import Glibc

/// One parsed X.509 certificate whose key is on a named curve.
@safe
final class Certificate: @unchecked Sendable {
    // Invariant: never changed after `init`, which also makes OpenSSL fill the fields it would otherwise fill lazily.
    let pointer: OpaquePointer
    let der: [UInt8]
    /// The public key's AlgorithmIdentifier; one of ``KeyAlgorithm/p256`` and ``KeyAlgorithm/p384``.
    let keyAlgorithm: [UInt8]
    /// The moments at which the certificate is valid, both ends included.
    let validity: ClosedRange<UnixMilliseconds>

    /// Larger than any certificate of Apple's by a factor of three.
    static let maximumByteCount = 4_096

    enum Defect: Error {
        case tooLong
        case notACertificate
        /// The key is not on a named P-256 or P-384 curve; OpenSSL has not seen it.
        case foreignKey
    }

    init(der: [UInt8]) throws(Defect) {
        guard der.count <= Self.maximumByteCount else { throw .tooLong }
        guard let algorithm = KeyAlgorithm.ofCertificate(der) else { throw .notACertificate }
        guard algorithm == KeyAlgorithm.p256 || algorithm == KeyAlgorithm.p384 else { throw .foreignKey }
        let parsed = unsafe der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe d2i_X509(nil, &cursor, buffer.count)
        }
        guard let parsed = unsafe parsed else {
            OpenSSLErrors.drain()
            throw .notACertificate
        }
        // Parses the extensions and hashes the certificate, so that later reads from several threads only read.
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

    /// Whether basicConstraints and keyUsage, both well formed, allow it to issue certificates.
    var isAuthority: Bool {
        unsafe X509_get_extension_flags(pointer) & UInt32(EXFLAG_INVALID) == 0 && X509_check_ca(pointer) == 1
    }

    /// Whether anything at all, old forms included, speaks for an authority.
    var looksLikeAuthority: Bool {
        unsafe X509_get_extension_flags(pointer) & UInt32(EXFLAG_CA) != 0 || X509_check_ca(pointer) != 0
    }

    /// Whether issuer and subject are one and the key identifiers agree.
    var isSelfSigned: Bool { unsafe X509_get_extension_flags(pointer) & UInt32(EXFLAG_SS) != 0 }

    /// Whether keyUsage allows signatures; it does when there is none.
    var maySign: Bool { unsafe X509_get_key_usage(pointer) & UInt32(KU_DIGITAL_SIGNATURE) != 0 }

    /// Whether the certificate has an extension of this type; being mentioned elsewhere in it does not count.
    func hasExtension(_ identifier: String) -> Bool {
        guard let object = unsafe OBJ_txt2obj(identifier, 1) else { preconditionFailure("\(identifier) is no OID.") }
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
