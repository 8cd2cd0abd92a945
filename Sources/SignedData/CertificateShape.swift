package import AppStoreModel

/// What a certificate should say; the three shapes of Apple's, and from them every defective one a test needs.
package struct CertificateShape: Sendable {
    package struct Extension: Sendable {
        package var identifier: String
        package var isCritical: Bool
        /// DER of the extension's value.
        package var value: [UInt8]

        package init(_ identifier: String, isCritical: Bool = false, value: [UInt8] = [0x05, 0x00]) {
            self.identifier = identifier
            self.isCritical = isCritical
            self.value = value
        }
    }

    /// Subject common name; the issuer's is taken from whoever signs.
    package var commonName: String
    package var key: KeyKind
    package var notBefore: UnixMilliseconds
    package var notAfter: UnixMilliseconds
    package var isAuthority: Bool
    /// How many further authorities may follow below it.
    package var pathLength: Int?
    /// OpenSSL's words, such as `digitalSignature`; empty leaves the extension out.
    package var keyUsage: [String]
    /// Written after basicConstraints, key identifiers and keyUsage; markers are NULL and not critical.
    package var extensions: [Extension]
    /// In place of the key's hash, for a certificate that pretends to be another.
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

    /// Like Apple's WWDR authority G6: P-384, may issue leaves only, marked.
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

    /// Like the App Store's signing certificates: P-256, no extended key usage, marked.
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
