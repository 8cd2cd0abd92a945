import AppStoreModel
package import LedgerSchema
import SignedData
import StrictJSON

/// A signed payload of the job's app, with its key and the verified records inside it.
package struct VerifiedRecord: Sendable {
    package let kind: RecordKind
    let payload: VerifiedPayload
    /// The record's own ID.
    ///
    /// The text of the JWS cannot serve as key, because one payload has many valid texts.
    package let key: String
    /// The records inside it, by the name of the field with the signed text.
    let nested: [String: VerifiedRecord]
    /// SHA-256 of the record without its signing date.
    ///
    /// Nested records are included by their own content digests.
    let contentDigest: [UInt8]

    /// The longest key in bytes: enough for any ID, and short enough for every index.
    private static let longestKey = 256

    /// The key of a payload that belongs to the app.
    ///
    /// - Throws: ``RecordRejection`` when the payload is of another app or environment, or has no key.
    static func key(
        of payload: VerifiedPayload,
        as kind: RecordKind,
        identity: AppIdentity
    ) throws(RecordRejection) -> String {
        try identity.require(payload.json, of: kind)
        let found = payload.json[kind.keyField]
        guard let key = found?.string, (1...longestKey).contains(key.utf8.count) else {
            throw RecordRejection(
                .missingKey,
                "\(kind.keyField) is \(ForeignText.description(of: found)); it must be 1 to \(longestKey) bytes of text."
            )
        }
        return key
    }

    /// - Parameters:
    ///   - kind: The expected kind of the payload.
    ///   - payload: A payload with verified signature and chain.
    ///   - identity: The app to which it must belong.
    ///   - verifyNested: Verifies the records inside the payload, after the payload itself is accepted.
    /// - Throws: ``RecordRejection`` when the payload is of another app or environment, or has no key.
    init(
        kind: RecordKind,
        payload: VerifiedPayload,
        identity: AppIdentity,
        nested verifyNested: (VerifiedPayload) -> [String: VerifiedRecord]
    ) throws(RecordRejection) {
        key = try Self.key(of: payload, as: kind, identity: identity)
        self.kind = kind
        self.payload = payload
        let nested = verifyNested(payload)
        let signed = NestedField.of(kind).compactMap { field in
            nested[field.name].flatMap { record in
                payload.json[field.object]?[field.name].map { (text: $0, digest: record.contentDigest) }
            }
        }
        self.nested = nested
        contentDigest = ContentDigest.make(of: payload, nested: signed)
    }

    var archived: ArchivedPayload {
        ArchivedPayload(
            kind: kind,
            recordKey: key,
            signedDate: payload.signedDate.rawValue,
            header: payload.header,
            payload: payload.payload,
            payloadSHA256: payload.payloadSHA256,
            signature: payload.signature
        )
    }
}

/// A field with another signed record.
struct NestedField {
    /// The payload's member that contains the field.
    let object: String
    let name: String
    let kind: RecordKind

    static func of(_ kind: RecordKind) -> [NestedField] { kind.nestsRecords ? ofNotifications : [] }

    private static let ofNotifications = [
        NestedField(object: "data", name: "signedTransactionInfo", kind: .transaction),
        NestedField(object: "data", name: "signedRenewalInfo", kind: .renewalInfo),
        NestedField(object: "appData", name: "signedAppTransactionInfo", kind: .appTransaction),
    ]
}
