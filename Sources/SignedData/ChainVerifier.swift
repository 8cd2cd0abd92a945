import AppStoreModel
import COpenSSL

/// A verified certificate chain: the leaf's key, and when the chain is valid.
struct VerifiedChain: Sendable {
    let leafKey: KeyHandle
    /// The period in which leaf, intermediate and root are all valid.
    let validity: ClosedRange<UnixMilliseconds>
    /// Whether the JWS contains another root than the trusted one.
    ///
    /// Apple's libraries ignore that; StoreLedger counts it.
    let rootDiffers: Bool
}

/// Verifies certificate chains against the trusted roots, independent of the current time.
///
/// `X509_verify_cert` alone would also accept Apple's intermediate or root as the leaf, and any other certificate that
/// Apple issues. The required structure is checked here.
@safe
final class ChainVerifier: @unchecked Sendable {
    // Invariant: the store is filled in `init` and then only read; OpenSSL locks its reference counts.
    private let store: OpaquePointer
    private let roots: [Certificate]

    /// OpenSSL's level 2 (112 bits) excludes SHA-1 and short keys from the whole chain.
    private static let securityLevel: Int32 = 2

    init(trustedRoots: [[UInt8]]) throws(CertificateError) {
        guard !trustedRoots.isEmpty else { throw CertificateError(.noRoots) }
        var roots: [Certificate] = []
        for (index, der) in trustedRoots.enumerated() {
            let root: Certificate
            do { root = try Certificate(der: der) } catch {
                throw CertificateError(CertificateError.Reason(error), index: index)
            }
            guard root.isSelfSigned else { throw CertificateError(.notSelfSigned, index: index) }
            guard root.isAuthority else { throw CertificateError(.notAnAuthority, index: index) }
            roots.append(root)
        }
        guard let store = unsafe X509_STORE_new() else {
            throw CertificateError(.creationFailed(OpenSSLErrors.drain()))
        }
        for root in roots {
            guard unsafe X509_STORE_add_cert(store, root.pointer) == 1 else {
                unsafe X509_STORE_free(store)
                throw CertificateError(.creationFailed(OpenSSLErrors.drain()))
            }
        }
        unsafe self.store = store
        self.roots = roots
    }

    deinit { unsafe X509_STORE_free(store) }

    /// Verifies one chain, with two P-384 verifications.
    ///
    /// - Parameter x5c: DER certificates, leaf first. The third is only compared, never trusted or parsed.
    /// - Returns: The leaf's key, and when the chain is valid.
    /// - Throws: ``JWSRejection`` with the first rule that the chain breaks.
    func verify(x5c: [[UInt8]]) throws(JWSRejection) -> VerifiedChain {
        guard x5c.count == 3 else {
            throw JWSRejection(.x5cLength, "x5c has \(x5c.count) certificates; it must have 3.")
        }
        let leaf = try certificate(x5c[0], index: 0)
        let intermediate = try certificate(x5c[1], index: 1)
        let leafKey = try checkRoles(leaf: leaf, intermediate: intermediate)
        let root = try buildChain(leaf: leaf, intermediate: intermediate)
        let begin = max(leaf.validity.lowerBound, intermediate.validity.lowerBound, root.validity.lowerBound)
        let end = min(leaf.validity.upperBound, intermediate.validity.upperBound, root.validity.upperBound)
        guard begin <= end else {
            throw JWSRejection(.validity, "The certificates of the chain are never valid at the same time.")
        }
        return VerifiedChain(leafKey: leafKey, validity: begin...end, rootDiffers: x5c[2] != root.der)
    }

    private func certificate(_ der: [UInt8], index: Int) throws(JWSRejection) -> Certificate {
        do { return try Certificate(der: der) } catch {
            switch error {
            case .tooLong:
                throw JWSRejection(.x5c, "x5c[\(index)] is longer than \(Certificate.maximumByteCount) bytes.")
            case .notACertificate:
                throw JWSRejection(.x5c, "x5c[\(index)] is not one DER certificate.")
            case .unsupportedKey where index == 0:
                throw JWSRejection(.leafKey, "The leaf's key is not on the named curve P-256.")
            case .unsupportedKey:
                throw JWSRejection(.chain, "x5c[\(index)] has a key that is not on the named curve P-256 or P-384.")
            }
        }
    }

    private func checkRoles(leaf: Certificate, intermediate: Certificate) throws(JWSRejection) -> KeyHandle {
        guard intermediate.isAuthority else {
            throw JWSRejection(.chain, "x5c[1] is not an authority's certificate.")
        }
        let isMarked = leaf.hasExtension(AppleMarker.leaf)
        guard !leaf.looksLikeAuthority else {
            // A certificate with the leaf's marker is a leaf that may also issue certificates. Without the marker, it
            // is an authority's certificate in the place of the leaf.
            throw JWSRejection(
                isMarked ? .chain : .leafIsAuthority,
                "x5c[0] is an authority's certificate, not a leaf."
            )
        }
        guard isMarked else {
            throw JWSRejection(.leafMarker, "The leaf lacks the extension \(AppleMarker.leaf).")
        }
        guard leaf.keyAlgorithm == KeyAlgorithm.p256, let key = leaf.publicKey() else {
            throw JWSRejection(.leafKey, "The leaf's key is not a point on the named curve P-256.")
        }
        guard leaf.maySign else {
            throw JWSRejection(.chain, "The leaf's keyUsage does not allow signatures.")
        }
        guard intermediate.hasExtension(AppleMarker.intermediate) else {
            throw JWSRejection(.intermediateMarker, "The intermediate lacks the extension \(AppleMarker.intermediate).")
        }
        return key
    }

    /// Lets OpenSSL build and verify the chain, and returns its trusted root.
    private func buildChain(leaf: Certificate, intermediate: Certificate) throws(JWSRejection) -> Certificate {
        guard let context = unsafe X509_STORE_CTX_new() else { OpenSSLErrors.outOfMemory() }
        defer { unsafe X509_STORE_CTX_free(context) }
        guard let untrusted = unsafe ledger_certificates_new() else { OpenSSLErrors.outOfMemory() }
        defer { unsafe ledger_certificates_free(untrusted) }
        guard unsafe ledger_certificates_append(untrusted, intermediate.pointer) > 0,
            unsafe X509_STORE_CTX_init(context, store, leaf.pointer, untrusted) == 1
        else { OpenSSLErrors.outOfMemory() }
        // The result is cached for later records, so it must not depend on the time: the caller compares the dates. Nothing
        // else is relaxed: partial chains and unknown critical extensions are refused.
        unsafe X509_STORE_CTX_set_flags(context, UInt(X509_V_FLAG_NO_CHECK_TIME))
        unsafe X509_VERIFY_PARAM_set_auth_level(X509_STORE_CTX_get0_param(context), Self.securityLevel)
        guard unsafe X509_verify_cert(context) == 1 else {
            let code = unsafe X509_STORE_CTX_get_error(context)
            if code == X509_V_ERR_OUT_OF_MEM { OpenSSLErrors.outOfMemory() }
            OpenSSLErrors.drain()
            let reason = unsafe X509_verify_cert_error_string(Int(code)).map { unsafe String(cString: $0) }
            throw JWSRejection(.chain, "The chain does not verify: \(reason ?? "error \(code)").")
        }
        guard let chain = unsafe X509_STORE_CTX_get0_chain(context),
            unsafe ledger_certificates_count(chain) == 3,
            unsafe X509_cmp(ledger_certificates_at(chain, 0), leaf.pointer) == 0,
            unsafe X509_cmp(ledger_certificates_at(chain, 1), intermediate.pointer) == 0,
            let root = roots.first(where: { unsafe X509_cmp(ledger_certificates_at(chain, 2), $0.pointer) == 0 })
        else { throw JWSRejection(.chain, "The chain is not leaf, intermediate and a trusted root.") }
        return root
    }
}

extension CertificateError.Reason {
    fileprivate init(_ defect: Certificate.Defect) {
        self =
            switch defect {
            case .tooLong: .tooLong
            case .notACertificate: .notACertificate
            case .unsupportedKey: .unsupportedKey
            }
    }
}
