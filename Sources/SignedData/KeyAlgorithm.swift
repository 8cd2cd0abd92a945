/// The AlgorithmIdentifiers of keys that OpenSSL may parse, byte for byte.
///
/// A key with explicit curve parameters can put a parser into an endless loop (CVE-2022-0778). OpenSSL therefore gets only
/// keys with these identifiers.
enum KeyAlgorithm {
    /// id-ecPublicKey with prime256v1 (RFC 5480, section 2.1.1.1).
    static let p256: [UInt8] = [
        0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01,
        0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
    ]

    /// id-ecPublicKey with secp384r1.
    static let p384: [UInt8] = [
        0x30, 0x10, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01,
        0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22,
    ]

    /// rsaEncryption with its NULL; recognised only for the error message.
    static let rsa: [UInt8] = [
        0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]

    /// The AlgorithmIdentifier of a certificate's public key, or `nil` when the bytes are not one whole certificate.
    static func ofCertificate(_ der: [UInt8]) -> [UInt8]? {
        var outer = DERReader(der)
        guard var certificate = outer.enter(DERTag.sequence), outer.isAtEnd,
            var fields = certificate.enter(DERTag.sequence)
        else { return nil }
        if fields.nextTag == DERTag.explicitVersion { _ = fields.next() }
        guard fields.next(DERTag.integer) != nil,  // serial number
            fields.next(DERTag.sequence) != nil,  // signature algorithm
            fields.next(DERTag.sequence) != nil,  // issuer
            fields.next(DERTag.sequence) != nil,  // validity
            fields.next(DERTag.sequence) != nil,  // subject
            var keyInfo = fields.enter(DERTag.sequence),
            let algorithm = keyInfo.next(DERTag.sequence),
            keyInfo.next(DERTag.bitString) != nil, keyInfo.isAtEnd,
            certificate.next(DERTag.sequence) != nil, certificate.next(DERTag.bitString) != nil, certificate.isAtEnd
        else { return nil }
        return Array(der[algorithm.whole])
    }

    /// The AlgorithmIdentifier of a PKCS#8 private key, or `nil` when the bytes are not one whole PrivateKeyInfo.
    static func ofPrivateKeyInfo(_ der: [UInt8]) -> [UInt8]? {
        var outer = DERReader(der)
        guard var info = outer.enter(DERTag.sequence), outer.isAtEnd,
            info.next(DERTag.integer) != nil,
            let algorithm = info.next(DERTag.sequence),
            info.next(DERTag.octetString) != nil
        else { return nil }
        return Array(der[algorithm.whole])
    }
}
