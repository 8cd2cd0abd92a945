import AppStoreModel
import Basics
import COpenSSL
import Hashing
import Platform

/// Builds an X.509 certificate from a ``CertificateShape``.
enum CertificateBuilder {
    static func build(
        _ shape: CertificateShape,
        key: KeyHandle,
        issuer: IssuedCertificate?
    ) throws(CertificateError) -> IssuedCertificate {
        guard let certificate = unsafe X509_new() else { throw failure() }
        defer { unsafe X509_free(certificate) }
        let parent = unsafe issuer.flatMap { unsafe parse($0.der) }
        defer { unsafe X509_free(parent) }
        guard issuer == nil || (unsafe parent != nil) else { throw failure() }
        let issuerCertificate = unsafe parent ?? certificate
        guard unsafe X509_set_version(certificate, Int(X509_VERSION_3)) == 1,
            unsafe setSerialNumber(of: certificate),
            unsafe ASN1_TIME_set(X509_getm_notBefore(certificate), time_t(shape.notBefore.rawValue / 1_000)) != nil,
            unsafe ASN1_TIME_set(X509_getm_notAfter(certificate), time_t(shape.notAfter.rawValue / 1_000)) != nil,
            unsafe X509_set_pubkey(certificate, key.pointer) == 1,
            unsafe setSubject(shape.commonName, of: certificate),
            unsafe X509_set_issuer_name(certificate, X509_get_subject_name(issuerCertificate)) == 1
        else { throw failure() }
        var context = unsafe X509V3_CTX()
        unsafe X509V3_set_ctx(&context, issuerCertificate, certificate, nil, nil, 0)
        for (identifier, value) in standardExtensions(of: shape, isSelfSigned: issuer == nil) {
            guard let created = unsafe X509V3_EXT_conf_nid(nil, &context, identifier, value) else { throw failure() }
            defer { unsafe X509_EXTENSION_free(created) }
            guard unsafe X509_add_ext(certificate, created, -1) == 1 else { throw failure() }
        }
        for more in shape.extensions {
            guard unsafe add(more, to: certificate) else { throw failure() }
        }
        let signer = issuer?.key ?? key
        // Ed25519 has its own digest. All other keys sign SHA-384 hashes, like Apple's authorities.
        let digest = unsafe EVP_PKEY_get_id(signer.pointer) == EVP_PKEY_ED25519 ? nil : EVP_sha384()
        guard unsafe X509_sign(certificate, signer.pointer, digest) > 0 else { throw failure() }
        let der = OpenSSLBytes.collect { unsafe i2d_X509(certificate, $0) }
        guard !der.isEmpty else { throw failure() }
        return IssuedCertificate(der: der, key: key)
    }

    private static func failure() -> CertificateError {
        CertificateError(.creationFailed(OpenSSLErrors.drain()))
    }

    private static func standardExtensions(of shape: CertificateShape, isSelfSigned: Bool) -> [(Int32, String)] {
        let pathLength = shape.pathLength.map { ",pathlen:\($0)" } ?? ""
        var extensions = [
            (NID_basic_constraints, "critical,CA:" + (shape.isAuthority ? "TRUE" : "FALSE") + pathLength),
            (NID_subject_key_identifier, shape.subjectKeyIdentifier.map(Self.colonSeparated) ?? "hash"),
        ]
        if !isSelfSigned { extensions.append((NID_authority_key_identifier, "keyid")) }
        if !shape.keyUsage.isEmpty {
            extensions.append((NID_key_usage, "critical," + shape.keyUsage.joined(separator: ",")))
        }
        return extensions
    }

    /// The notation of OpenSSL's configuration, such as `0a:1b`.
    private static func colonSeparated(_ bytes: [UInt8]) -> String {
        bytes.map { [$0].hexadecimal }.joined(separator: ":")
    }

    private static func add(_ content: CertificateShape.Extension, to certificate: OpaquePointer) -> Bool {
        guard let identifier = unsafe OBJ_txt2obj(content.identifier, 1) else { return false }
        defer { unsafe ASN1_OBJECT_free(identifier) }
        guard let value = unsafe ASN1_OCTET_STRING_new() else { return false }
        defer { unsafe ASN1_OCTET_STRING_free(value) }
        guard unsafe ASN1_OCTET_STRING_set(value, content.value, Int32(content.value.count)) == 1,
            let created = unsafe X509_EXTENSION_create_by_OBJ(nil, identifier, content.isCritical ? 1 : 0, value)
        else { return false }
        defer { unsafe X509_EXTENSION_free(created) }
        return unsafe X509_add_ext(certificate, created, -1) == 1
    }

    private static func setSubject(_ commonName: String, of certificate: OpaquePointer) -> Bool {
        let name = unsafe X509_get_subject_name(certificate)
        let parts = [("CN", commonName), ("O", "StoreLedger"), ("C", "US")]
        return parts.allSatisfy { field, text in
            unsafe X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, text, Int32(text.utf8.count), -1, 0) == 1
        }
    }

    private static func setSerialNumber(of certificate: OpaquePointer) -> Bool {
        // 63 random bits: positive, and unique under one authority.
        let number = UInt64.random(in: 1...UInt64(Int64.max))
        return unsafe ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), number) == 1
    }

    private static func parse(_ der: [UInt8]) -> OpaquePointer? {
        unsafe der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe d2i_X509(nil, &cursor, buffer.count)
        }
    }
}
