import Platform

/// Finds the file of trusted certificate authorities.
///
/// libcurl gets its path explicitly, so that neither an environment variable nor a build default decides.
package enum CertificateBundle {
    /// Debian, Fedora, Alpine.
    private static let systemFiles = [
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/cert.pem",
    ]

    /// The system's file; `nil` when no known path can be read.
    package static var system: String? { systemFiles.first { unsafe access($0, R_OK) == 0 } }

    static func path(configured: String?) throws(TransportFault) -> String {
        let candidates = configured.map { [$0] } ?? systemFiles
        guard let path = candidates.first(where: { unsafe access($0, R_OK) == 0 }) else {
            throw TransportFault(
                .unavailable,
                "No CA bundle can be read at \(candidates.joined(separator: ", ")); install ca-certificates, or configure a CA file."
            )
        }
        return path
    }
}
