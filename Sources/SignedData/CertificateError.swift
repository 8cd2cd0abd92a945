/// Why a configured certificate or authority cannot be used.
package struct CertificateError: Error, Equatable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
        case noRoots
        case notACertificate
        case tooLong
        case unsupportedKey
        case notSelfSigned
        case notAnAuthority
        /// The text does not have the form of ``CertificateAuthority/pem``.
        case badAuthorityText
        /// OpenSSL could not create a key or certificate; with its message.
        case creationFailed(String)
    }

    package let reason: Reason
    /// The index of the root, from 0; `nil` when there is only one certificate.
    package let index: Int?

    init(_ reason: Reason, index: Int? = nil) {
        self.reason = reason
        self.index = index
    }

    package var description: String {
        let subject = index.map { "Trusted root \($0)" } ?? "The certificate"
        return switch reason {
        case .noRoots: "No trusted root was given; at least one is needed."
        case .notACertificate:
            "\(subject) is not one DER certificate; give the .cer file as Apple or the simulator wrote it."
        case .tooLong: "\(subject) is longer than \(Certificate.maximumByteCount) bytes."
        case .unsupportedKey: "\(subject) has a key that is not on the named curve P-256 or P-384."
        case .notSelfSigned: "\(subject) is not self-signed; give the root itself, not an intermediate."
        case .notAnAuthority: "\(subject) is not allowed to issue certificates (basicConstraints CA:TRUE is missing)."
        case .badAuthorityText: "The stored certificate authority is not three certificates, each followed by its key."
        case .creationFailed(let detail): "OpenSSL could not create the certificate: \(detail)."
        }
    }
}
