package import AppStoreModel
package import LedgerTables
package import SignedData
import Workers

/// Apple's words become ours, or a reason why not.
///
/// Verify first, then map leniently: one field of an unexpected type costs that field, never the row.
package struct Normalizer: Sendable {
    let identity: AppIdentity
    let verifier: JWSVerifier

    /// - Parameters:
    ///   - bundleId: The app that every payload must be of, where it names one.
    ///   - environment: The environment that every payload must be of.
    ///   - appAppleId: Required of notifications in production; `nil` accepts any.
    ///   - verifier: Holds the trusted roots and the verdicts on chains.
    package init(
        bundleId: String,
        environment: AppStoreEnvironment,
        appAppleId: Int64?,
        verifier: JWSVerifier
    ) {
        identity = AppIdentity(bundleId: bundleId, environment: environment, appAppleId: appAppleId)
        self.verifier = verifier
    }

    /// Verifies, checks and maps every record of a page.
    ///
    /// CPU-bound: one P-256 verification for each signed payload. The page's own `bundleId` and `environment` are the
    /// crawl's to judge.
    ///
    /// - Parameters:
    ///   - page: As Apple answered it.
    ///   - stream: The stream it came from, for messages.
    ///   - now: The database's clock, against records signed in the future.
    /// - Returns: All that the page adds to the ledger; a record that fails verification is among the rejected.
    package func normalize(_ page: Page, from stream: StreamName, now: UnixMilliseconds) -> PageRows {
        var collector = PageCollector(expecting: page.records.count)
        for record in page.records {
            switch record {
            case .transaction(let jws):
                addTransaction(.text(jws), now: now, to: &collector)
            case .refund(let jws):
                addTransaction(.text(jws), isRefund: true, now: now, to: &collector)
            case .notification(let jws, let sendAttempts):
                addNotification(.text(jws), sendAttempts: sendAttempts, now: now, to: &collector)
            case .unreadable(let text):
                let detail = "A record of \(stream.rawValue) is not a signed text; it must be a JWS."
                collector.reject(RecordRejection(.unreadable, detail), raw: text, as: nil)
            }
        }
        return collector.rows
    }

    /// Verifies, checks and maps records of the archive again.
    ///
    /// They came in many answers, so a notification that was signed again is no contradiction.
    ///
    /// - Parameters:
    ///   - archived: All of one kind.
    ///   - kind: Their kind.
    ///   - areRefunds: Whether refund history returned them.
    ///   - now: The database's clock.
    /// - Returns: As of a page with the same records.
    package func normalize(
        archived: [SignedText],
        as kind: RecordKind,
        areRefunds: Bool,
        now: UnixMilliseconds
    ) -> PageRows {
        var collector = PageCollector(expecting: archived.count, isOneAnswer: false)
        for signed in archived {
            switch kind {
            case .transaction: addTransaction(signed, isRefund: areRefunds, now: now, to: &collector)
            case .renewalInfo: _ = addRenewal(signed, now: now, to: &collector)
            case .notification, .appTransaction: addNotification(signed, sendAttempts: [], now: now, to: &collector)
            }
        }
        return collector.rows
    }

    /// Verifies a payload of the job's app and archives it, or leaves a rejected record and returns `nil`.
    func believe(
        _ jws: SignedText,
        as kind: RecordKind,
        now: UnixMilliseconds,
        collector: inout PageCollector
    ) -> VerifiedRecord? {
        do throws(RecordRejection) {
            let payload = try verify(jws, as: kind, now: now)
            crashPoint(.recordVerified)
            let record = try VerifiedRecord(kind: kind, payload: payload, identity: identity)
            collector.archive(record)
            if payload.rootDiffers { collector.noteForeignRoot(of: kind) }
            return record
        } catch {
            collector.reject(error, raw: jws.text, as: kind)
            return nil
        }
    }

    private func verify(
        _ jws: SignedText,
        as kind: RecordKind,
        now: UnixMilliseconds
    ) throws(RecordRejection) -> VerifiedPayload {
        let limit = kind == .notification ? JWSVerifier.maximumNotificationBytes : JWSVerifier.maximumBytes
        do throws(JWSRejection) {
            switch jws {
            case .text(let text): return try verifier.verify(text, now: now, maximumBytes: limit)
            case .parts(let parts): return try verifier.verify(parts, now: now, maximumBytes: limit)
            }
        } catch {
            throw RecordRejection(error)
        }
    }
}

extension Normalizer {
    /// A transaction of a history; refund history gives two rows, for it is both a refund and the transaction's newest state.
    @discardableResult
    func addTransaction(
        _ jws: SignedText,
        isRefund: Bool = false,
        now: UnixMilliseconds,
        to collector: inout PageCollector
    ) -> VerifiedRecord? {
        guard let record = believe(jws, as: .transaction, now: now, collector: &collector) else { return nil }
        collector.noteDrift(of: record)
        let commerce = AdvancedCommerceRows(ownerKind: .transaction, ownerKey: record.key, reading: record.reading)
        collector.add(
            record.snapshot(of: Tables.transactions, children: commerce.children),
            of: record,
            issues: record.issues
        )
        if isRefund {
            collector.add(
                record.snapshot(of: Tables.refunds),
                of: record,
                issues: []
            )
        }
        return record
    }

    func addRenewal(_ jws: SignedText, now: UnixMilliseconds, to collector: inout PageCollector) -> VerifiedRecord? {
        guard let record = believe(jws, as: .renewalInfo, now: now, collector: &collector) else { return nil }
        collector.noteDrift(of: record)
        let commerce = AdvancedCommerceRows(ownerKind: .renewalInfo, ownerKey: record.key, reading: record.reading)
        collector.add(
            record.snapshot(of: Tables.renewals, children: commerce.children),
            of: record,
            issues: record.issues
        )
        return record
    }
}
