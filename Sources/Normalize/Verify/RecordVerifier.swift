package import AppStoreModel
import LedgerSchema
package import SignedData
import StrictJSON
import Basics

/// Verifies that signed records are Apple's, and of the job's app.
package struct RecordVerifier: Sendable {
    private let identity: AppIdentity
    private let verifier: JWSVerifier

    /// - Parameters:
    ///   - bundleId: The app that every payload must be of, where it names one.
    ///   - environment: The environment that every payload must be of.
    ///   - appAppleId: Required of notifications in production; `nil` accepts any.
    ///   - verifier: Holds the trusted roots and the verified chains.
    package init(
        bundleId: String,
        environment: AppStoreEnvironment,
        appAppleId: Int64?,
        verifier: JWSVerifier
    ) {
        identity = AppIdentity(bundleId: bundleId, environment: environment, appAppleId: appAppleId)
        self.verifier = verifier
    }

    /// Verifies one record and what is signed inside it.
    ///
    /// A nested record that fails is rejected by itself; the record is accepted without it.
    ///
    /// - Returns: `nil` when the record itself failed; it is then among `rejected`.
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
    ///   - rejection: Why it is not loaded.
    ///   - text: As it came.
    ///   - kind: What the text was to be verified as; `nil` where it is no signed text at all.
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
}
