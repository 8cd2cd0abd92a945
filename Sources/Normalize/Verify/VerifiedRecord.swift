import AppStoreModel
package import LedgerSchema
import SignedData
import StrictJSON

/// A signed payload of the job's own app, with its key and the verified records signed inside it.
package struct VerifiedRecord: Sendable {
    package let kind: RecordKind
    let payload: VerifiedPayload
    /// The record's own ID, never the text of the JWS: one payload has many valid texts.
    package let key: String
    /// By the field that has the signed text.
    let nested: [String: VerifiedRecord]
    /// SHA-256 of what the record says, without when it was signed; a nested record counts by what it says, too.
    let contentDigest: [UInt8]

    /// Bytes of a key: long enough for any ID, short enough for every index.
    private static let longestKey = 256

    /// - Parameters:
    ///   - kind: What the payload must be.
    ///   - payload: Its signature and chain are verified.
    ///   - identity: The app it must be of.
    ///   - verifyNested: Verifies what is signed inside the payload, once the payload itself is accepted.
    /// - Throws: ``RecordRejection`` when the payload is of another app or environment, or has no key.
    init(
        kind: RecordKind,
        payload: VerifiedPayload,
        identity: AppIdentity,
        nested verifyNested: (VerifiedPayload) -> [String: VerifiedRecord]
    ) throws(RecordRejection) {
        try identity.require(payload.json, of: kind)
        let found = payload.json[kind.keyField]
        guard let key = found?.string, (1...Self.longestKey).contains(key.utf8.count) else {
            throw RecordRejection(
                .missingKey,
                "\(kind.keyField) is \(ForeignText.description(of: found)); it must be 1 to \(Self.longestKey) bytes of text."
            )
        }
        self.kind = kind
        self.payload = payload
        self.key = key
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

/// Where a payload has another signed record.
struct NestedField {
    /// The payload's member that has the field.
    let object: String
    let name: String
    let kind: RecordKind

    static func of(_ kind: RecordKind) -> [NestedField] { kind == .notification ? ofNotifications : [] }

    private static let ofNotifications = [
        NestedField(object: "data", name: "signedTransactionInfo", kind: .transaction),
        NestedField(object: "data", name: "signedRenewalInfo", kind: .renewalInfo),
        NestedField(object: "appData", name: "signedAppTransactionInfo", kind: .appTransaction),
    ]
}
