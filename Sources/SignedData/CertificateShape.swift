package import AppStoreModel

/// The content of a certificate to create.
///
/// There is a shape for each of Apple's three kinds; tests change them to get invalid certificates.
package struct CertificateShape: Sendable {
    package struct Extension: Sendable {
        package var identifier: String
        package var isCritical: Bool
        /// DER of the extension's value.
        package var value: [UInt8]

        /// The default value is NULL in DER, as in an ``AppleMarker``.
        package init(_ identifier: String, isCritical: Bool = false, value: [UInt8] = [0x05, 0x00]) {
            self.identifier = identifier
            self.isCritical = isCritical
            self.value = value
        }
    }

    /// The common name of the subject; the issuer's comes from the signing certificate.
    package var commonName: String
    package var key: KeyKind
    package var notBefore: UnixMilliseconds
    package var notAfter: UnixMilliseconds
    package var isAuthority: Bool
    /// How many more authorities may be below it in a chain.
    package var pathLength: Int?
    /// OpenSSL's names, such as `digitalSignature`; empty for no extension.
    package var keyUsage: [String]
    /// Extensions after basicConstraints, key identifiers and keyUsage, such as an ``AppleMarker``.
    package var extensions: [Extension]
    /// `nil` for the hash of the key; another value makes a certificate that imitates another one.
    package var subjectKeyIdentifier: [UInt8]?

    /// Like Apple Root CA - G3: P-384, 25 years.
    package static func root(
        from notBefore: UnixMilliseconds,
        to notAfter: UnixMilliseconds
    ) -> CertificateShape {
        CertificateShape(
            commonName: "StoreLedger Simulator Root CA - G3",
            key: .p384,
            notBefore: notBefore,
            notAfter: notAfter,
            isAuthority: true,
            pathLength: nil,
            keyUsage: ["keyCertSign", "cRLSign"],
            extensions: []
        )
    }

    /// Like Apple's WWDR authority G6: P-384, may issue leaves only, with Apple's marker.
    package static func intermediate(
        from notBefore: UnixMilliseconds,
        to notAfter: UnixMilliseconds
    ) -> CertificateShape {
        CertificateShape(
            commonName: "StoreLedger Simulator Developer Relations Authority",
            key: .p384,
            notBefore: notBefore,
            notAfter: notAfter,
            isAuthority: true,
            pathLength: 0,
            keyUsage: ["keyCertSign", "cRLSign"],
            extensions: [Extension(AppleMarker.intermediate)]
        )
    }

    /// Like the App Store's signing certificates: P-256, no extended key usage, with Apple's marker.
    package static func leaf(
        from notBefore: UnixMilliseconds,
        to notAfter: UnixMilliseconds
    ) -> CertificateShape {
        CertificateShape(
            commonName: "StoreLedger Simulator Receipt Signing",
            key: .p256,
            notBefore: notBefore,
            notAfter: notAfter,
            isAuthority: false,
            pathLength: nil,
            keyUsage: ["digitalSignature"],
            extensions: [Extension(AppleMarker.leaf)]
        )
    }
}
