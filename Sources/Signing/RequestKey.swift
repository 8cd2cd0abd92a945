package import SignedData

/// An app's signing key, with the IDs that go into signatures.
package struct RequestKey: Sendable {
    let key: SigningKey
    let keyId: String
    let issuerId: String
    let bundleId: String

    package init(key: SigningKey, keyId: String, issuerId: String, bundleId: String) {
        self.key = key
        self.keyId = keyId
        self.issuerId = issuerId
        self.bundleId = bundleId
    }

    func signer(_ audience: StoreKitRequestSigner.Audience) -> StoreKitRequestSigner {
        StoreKitRequestSigner(audience, key: key, keyId: keyId, issuerId: issuerId, bundleId: bundleId)
    }
}
