import COpenSSL

/// The kinds of keys for certificates: Apple's two, and others that a verifier must refuse.
package enum KeyKind: String, CaseIterable, Sendable {
    case p256
    case p384
    case secp256k1
    /// P-256 with explicit parameters instead of the curve's name.
    case explicitP256
    case rsa2048
    case ed25519

    func generate() throws(CertificateError) -> KeyHandle {
        let algorithm =
            switch self {
            case .p256, .p384, .secp256k1, .explicitP256: "EC"
            case .rsa2048: "RSA"
            case .ed25519: "ED25519"
            }
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, algorithm, nil) else {
            throw CertificateError(.creationFailed(OpenSSLErrors.drain()))
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1, unsafe configure(context),
            unsafe EVP_PKEY_generate(context, &key) == 1, let key = unsafe key
        else { throw CertificateError(.creationFailed(OpenSSLErrors.drain())) }
        return unsafe KeyHandle(owning: key)
    }

    private func configure(_ context: OpaquePointer) -> Bool {
        switch self {
        case .p256: unsafe EVP_PKEY_CTX_set_group_name(context, "prime256v1") == 1
        case .p384: unsafe EVP_PKEY_CTX_set_group_name(context, "secp384r1") == 1
        case .secp256k1: unsafe EVP_PKEY_CTX_set_group_name(context, "secp256k1") == 1
        case .explicitP256:
            unsafe EVP_PKEY_CTX_set_group_name(context, "prime256v1") == 1
                && EVP_PKEY_CTX_set_ec_param_enc(context, OPENSSL_EC_EXPLICIT_CURVE) == 1
        case .rsa2048: unsafe EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2_048) == 1
        case .ed25519: true
        }
    }
}
