import COpenSSL

/// A P-256 public key.
@safe
package struct P256PublicKey: Sendable {
    let check: SignatureCheck

    init(handle: KeyHandle) {
        check = SignatureCheck(handle)
    }

    /// Reads an uncompressed point: 0x04, then x and y of 32 bytes each (SEC 1, section 2.3.3).
    ///
    /// Returns `nil` unless the point lies on the curve.
    package init?(uncompressedPoint point: [UInt8]) {
        guard point.count == 65, point.first == 0x04 else { return nil }
        // SubjectPublicKeyInfo: the algorithm, then a bit string of 66 bytes with no unused bits.
        let der = [DERTag.sequence, 0x59] + KeyAlgorithm.p256 + [DERTag.bitString, 0x42, 0x00] + point
        let key = unsafe der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe d2i_PUBKEY(nil, &cursor, buffer.count)
        }
        guard let key = unsafe key else {
            OpenSSLErrors.drain()
            return nil
        }
        unsafe self.init(handle: KeyHandle(owning: key))
    }
}
