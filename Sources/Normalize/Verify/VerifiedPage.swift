package import AppStoreModel
package import LedgerSchema
import SignedData
package import StrictJSON

/// The records of one page, or of one batch of a replay, after verification.
package struct VerifiedPage: Sendable {
    package struct Entry: Sendable {
        package let record: VerifiedRecord
        /// Whether refund history returned the transaction.
        package var isRefund = false
        /// Apple's attempts to deliver the notification; they are not signed.
        package var sendAttempts: [JSONElement] = []
    }

    package fileprivate(set) var entries: [Entry] = []
    /// Records that failed verification, nested ones included.
    package fileprivate(set) var rejected: [RejectedRecord] = []
    /// Whether the records came in one answer of Apple's.
    ///
    /// Two notifications with one UUID and one signing date contradict each other there; in an archive of many answers they
    /// do not.
    package let isOneAnswer: Bool

    init(isOneAnswer: Bool, expecting count: Int = 1) {
        self.isOneAnswer = isOneAnswer
        entries.reserveCapacity(count)
    }
}

extension RecordVerifier {
    /// Verifies every record of a page.
    ///
    /// CPU-bound: one P-256 verification for each signed payload. The crawler checks the page's own `bundleId` and
    /// `environment`.
    ///
    /// - Parameters:
    ///   - page: As Apple answered it.
    ///   - stream: The stream it came from, for messages.
    ///   - now: The database's clock, against records signed in the future.
    /// - Returns: The verified records, and those that failed.
    package func verify(_ page: Page, from stream: StreamName, now: UnixMilliseconds) -> VerifiedPage {
        var verified = VerifiedPage(isOneAnswer: true, expecting: page.records.count)
        for record in page.records {
            switch record {
            case .transaction(let jws):
                add(.text(jws), as: .transaction, now: now, to: &verified)
            case .refund(let jws):
                add(.text(jws), as: .transaction, isRefund: true, now: now, to: &verified)
            case .notification(let jws, let sendAttempts):
                add(.text(jws), as: .notification, sendAttempts: sendAttempts, now: now, to: &verified)
            case .unreadable(let text):
                let detail = "A record of \(stream.rawValue) is not a signed text; it must be a JWS."
                verified.rejected.append(RejectedRecord(RecordRejection(.unreadable, detail), raw: text, as: nil))
            }
        }
        return verified
    }

    /// Verifies records of the archive again.
    ///
    /// - Parameters:
    ///   - archived: All of one kind.
    ///   - kind: Their kind.
    ///   - areRefunds: Whether refund history returned them.
    ///   - now: The database's clock.
    /// - Returns: The verified records, and those that failed.
    package func verify(
        archived: [SignedText],
        as kind: RecordKind,
        areRefunds: Bool,
        now: UnixMilliseconds
    ) -> VerifiedPage {
        var verified = VerifiedPage(isOneAnswer: false, expecting: archived.count)
        for text in archived { add(text, as: kind, isRefund: areRefunds, now: now, to: &verified) }
        return verified
    }

    /// Verifies one record of unknown kind, such as one that was rejected.
    ///
    /// The fields in it decide the kind before the app is checked: renewal info names no app, so another app's transaction
    /// would pass as one.
    ///
    /// - Parameters:
    ///   - jws: As it came.
    ///   - isRefund: Whether refund history returned it.
    ///   - now: The database's clock.
    /// - Returns: The verified record, or the failed one.
    package func verify(anyKind jws: String, isRefund: Bool, now: UnixMilliseconds) -> VerifiedPage {
        var verified = VerifiedPage(isOneAnswer: true)
        let kind = kind(of: jws, now: now)
        add(.text(jws), as: kind, isRefund: isRefund && kind == .transaction, now: now, to: &verified)
        return verified
    }

    /// A transaction has the key of renewal info beside its own, so the order matters.
    private func kind(of jws: String, now: UnixMilliseconds) -> RecordKind {
        // A text that does not verify is rejected for that, whatever its kind.
        guard let payload = try? payload(of: .text(jws), as: .notification, now: now) else { return .notification }
        let kinds: [RecordKind] = [.notification, .transaction, .renewalInfo]
        return kinds.first { payload.json[$0.keyField] != nil } ?? .notification
    }

    private func add(
        _ text: SignedText,
        as kind: RecordKind,
        isRefund: Bool = false,
        sendAttempts: [JSONElement] = [],
        now: UnixMilliseconds,
        to page: inout VerifiedPage
    ) {
        guard let record = verify(text, as: kind, now: now, rejected: &page.rejected) else { return }
        page.entries.append(VerifiedPage.Entry(record: record, isRefund: isRefund, sendAttempts: sendAttempts))
    }
}
