package import AppStoreModel
import Basics
import Hashing
import LedgerSchema
package import SignedData
import StrictJSON

/// Verifies that records are signed by Apple and belong to the job's app.
package struct RecordVerifier: Sendable {
    private let identity: AppIdentity
    private let verifier: JWSVerifier

    /// - Parameters:
    ///   - bundleId: The required bundle ID of every payload that has one.
    ///   - environment: The required environment of every payload.
    ///   - appAppleId: The app's Apple ID that every notification in production must have; `nil` accepts any.
    ///   - verifier: The trusted roots and the verified chains.
    package init(
        bundleId: String,
        environment: AppStoreEnvironment,
        appAppleId: Int64?,
        verifier: JWSVerifier
    ) {
        identity = AppIdentity(bundleId: bundleId, environment: environment, appAppleId: appAppleId)
        self.verifier = verifier
    }

    /// Verifies one record and the records signed inside it.
    ///
    /// A nested record that fails is rejected separately; the outer record is accepted without it.
    ///
    /// - Returns: `nil` if the record itself failed; `rejected` then contains it.
    func verify(
        _ text: SignedText,
        as kind: RecordKind,
        now: UnixMilliseconds,
        rejected: inout [RejectedRecord]
    ) -> VerifiedRecord? {
        do throws(RecordRejection) {
            let payload = try payload(of: text, as: kind, now: now)
            crashPoint(.recordVerified)
            return try VerifiedRecord(kind: kind, payload: payload, identity: identity) { payload in
                var nested: [String: VerifiedRecord] = [:]
                for field in NestedField.of(kind) {
                    guard let text = payload.json[field.object]?[field.name]?.string else { continue }
                    nested[field.name] = verify(.text(text), as: field.kind, now: now, rejected: &rejected)
                }
                return nested
            }
        } catch {
            rejected.append(RejectedRecord(error, raw: text.text, as: kind))
            return nil
        }
    }

    /// The key of a payload of the job's app.
    func key(of payload: VerifiedPayload, as kind: RecordKind) throws(RecordRejection) -> String {
        try VerifiedRecord.key(of: payload, as: kind, identity: identity)
    }

    /// Verifies signature, chain and dates.
    func payload(
        of text: SignedText,
        as kind: RecordKind,
        now: UnixMilliseconds
    ) throws(RecordRejection) -> VerifiedPayload {
        let limit = kind.nestsRecords ? JWSVerifier.maximumNotificationBytes : JWSVerifier.maximumBytes
        do throws(JWSRejection) {
            switch text {
            case .text(let text): return try verifier.verify(text, now: now, maximumBytes: limit)
            case .parts(let parts): return try verifier.verify(parts, now: now, maximumBytes: limit)
            }
        } catch {
            throw RecordRejection(error)
        }
    }
}

extension RejectedRecord {
    /// - Parameters:
    ///   - text: The record as received.
    ///   - kind: The expected kind of the record; `nil` if it is not a signed text.
    init(_ rejection: RecordRejection, raw text: String, as kind: RecordKind?) {
        let raw = Array(text.utf8)
        self.init(
            reason: rejection.reason,
            detail: rejection.detail,
            raw: raw,
            sha256: SHA256.digest(of: raw),
            identity: kind.flatMap { ClaimedRecord.identity(of: text, as: $0) }
        )
    }

    /// A rejected answer that Apple did not sign.
    ///
    /// Its text contains signed records, which Apple signs again for each answer. So both hashes are made from its kind
    /// and key, and the ledger keeps one row for each reason, with the text of the newest run.
    ///
    /// - Parameters:
    ///   - text: The answer as received.
    ///   - key: The key that an accepted answer would have.
    init(_ rejection: RecordRejection, raw text: String, answer kind: AnswerKind, key: String) {
        let identity = Self.identity(of: kind, key)
        self.init(
            reason: rejection.reason,
            detail: rejection.detail,
            raw: Array(text.utf8),
            sha256: identity,
            identity: identity
        )
    }

    /// SHA-256 of the kind and key of an answer that Apple did not sign.
    static func identity(of kind: AnswerKind, _ key: String) -> [UInt8] {
        SHA256.digest(of: Array("\(kind.table.name)\n\(key)".utf8))
    }
}
