/// A certificate created by this process, with its private key.
@safe
package struct IssuedCertificate: Sendable {
    package let der: [UInt8]
    let key: KeyHandle

    /// A self-signed certificate.
    package static func selfSigned(_ shape: CertificateShape) throws(CertificateError) -> IssuedCertificate {
        try CertificateBuilder.build(shape, key: shape.key.generate(), issuer: nil)
    }

    /// A certificate signed by this one, even if this one is not allowed to issue certificates.
    package func issue(_ shape: CertificateShape) throws(CertificateError) -> IssuedCertificate {
        try CertificateBuilder.build(shape, key: shape.key.generate(), issuer: self)
    }
}
