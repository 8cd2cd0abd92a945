package import AppStoreModel

/// A certificate authority with the structure of Apple's: root, intermediate and leaf, with their keys.
///
/// Created at run time, so no repository contains its keys. The pipeline trusts it only when a job file names its root.
package struct CertificateAuthority: Sendable {
    package let root: IssuedCertificate
    package let intermediate: IssuedCertificate
    package let leaf: IssuedCertificate

    /// Creates three new keys and certificates.
    package init(
        root: CertificateShape,
        intermediate: CertificateShape,
        leaf: CertificateShape
    ) throws(CertificateError) {
        self.root = try .selfSigned(root)
        self.intermediate = try self.root.issue(intermediate)
        self.leaf = try self.intermediate.issue(leaf)
    }

    /// An authority whose certificates are all valid from `notBefore` to `notAfter`.
    package init(from notBefore: UnixMilliseconds, to notAfter: UnixMilliseconds) throws(CertificateError) {
        try self.init(
            root: .root(from: notBefore, to: notAfter),
            intermediate: .intermediate(from: notBefore, to: notAfter),
            leaf: .leaf(from: notBefore, to: notAfter)
        )
    }

    /// The chain with the leaf first, as in `x5c`.
    package var chain: [[UInt8]] { [leaf.der, intermediate.der, root.der] }

    /// Signs payloads with the leaf, and puts the whole chain into each header.
    package var issuer: JWSIssuer { JWSIssuer(x5c: chain, leaf: leaf) }

    /// Root, intermediate and leaf in PEM, each certificate followed by its key; ``init(pem:)`` reads it.
    package var pem: Secret<String> {
        var text = ""
        for certificate in [root, intermediate, leaf] {
            var key = PrivateKeyInfo.der(of: certificate.key)
            defer { key.cleanse() }
            text += PEMBlock.text(label: Self.certificateLabel, content: certificate.der)
            text += PEMBlock.text(label: PrivateKeyInfo.label, content: key)
        }
        return Secret(text)
    }

    /// Reads an authority from the text of ``pem``.
    package init(pem: Secret<String>) throws(CertificateError) {
        guard let blocks = PEMBlock.parse(Array(pem.reveal().utf8)), blocks.count == 6 else {
            throw CertificateError(.badAuthorityText)
        }
        let certificates = try stride(from: 0, to: 6, by: 2).map { index throws(CertificateError) in
            guard blocks[index].label == Self.certificateLabel, blocks[index + 1].label == PrivateKeyInfo.label,
                KeyAlgorithm.ofCertificate(blocks[index].content) != nil,
                let key = PrivateKeyInfo.key(der: blocks[index + 1].content)
            else { throw CertificateError(.badAuthorityText) }
            return IssuedCertificate(der: blocks[index].content, key: key)
        }
        (root, intermediate, leaf) = (certificates[0], certificates[1], certificates[2])
    }

    private static let certificateLabel = "CERTIFICATE"
}
