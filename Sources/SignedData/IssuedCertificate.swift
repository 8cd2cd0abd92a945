/// A certificate made here, with its private key.
@safe
package struct IssuedCertificate: Sendable {
    package let der: [UInt8]
    let key: KeyHandle

    /// A certificate that signs itself.
    package static func selfSigned(_ shape: CertificateShape) throws(CertificateError) -> IssuedCertificate {
        try CertificateBuilder.build(shape, key: shape.key.generate(), issuer: nil)
    }

    /// A certificate signed by this one, whether or not this one may.
    package func issue(_ shape: CertificateShape) throws(CertificateError) -> IssuedCertificate {
        try CertificateBuilder.build(shape, key: shape.key.generate(), issuer: self)
    }
}
