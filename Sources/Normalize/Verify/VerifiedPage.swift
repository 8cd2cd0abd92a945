package import AppStoreModel
package import LedgerSchema
import SignedData
package import StrictJSON

/// The records of one page, or of one batch of a replay, after verification.
package struct VerifiedPage: Sendable {
    package struct Entry: Sendable {
        package let record: VerifiedRecord
        /// Whether the transaction came from refund history.
        package var isRefund = false
        /// Apple's attempts to deliver the notification; Apple does not sign them.
        package var sendAttempts: [JSONElement] = []
    }

    package fileprivate(set) var entries: [Entry] = []
    /// What Apple answered without signing it, as far as the signed records agree.
    package fileprivate(set) var answers: [Answer] = []
    /// Records that failed verification, nested ones included.
    package fileprivate(set) var rejected: [RejectedRecord] = []
    /// Whether all records came in one response from Apple.
    ///
    /// Two notifications in one response contradict each other if they have the same UUID and signing date but
    /// different content. Records of the archive come from many responses, where this is no contradiction.
    package let isOneResponse: Bool

    mutating func add(_ answer: Answer) { answers.append(answer) }

    /// Rejects an answer that Apple did not sign.
    mutating func reject(_ rejection: RecordRejection, raw: String, _ kind: AnswerKind, _ key: String) {
        rejected.append(RejectedRecord(rejection, raw: raw, answer: kind, key: key))
    }

    init(isOneResponse: Bool, expecting count: Int = 1) {
        self.isOneResponse = isOneResponse
        entries.reserveCapacity(count)
    }
}

extension RecordVerifier {
    /// Verifies every record of a page.
    ///
    /// This is CPU-bound: each signed payload needs one P-256 verification. The crawler checks the page's own
    /// `bundleId` and `environment`.
    ///
    /// - Parameters:
    ///   - page: Apple's response.
    ///   - stream: The stream it came from, for messages.
    ///   - itemKey: The key of the requested item: a transaction ID or an order ID.
    ///   - now: The time of the database's clock, used to reject records signed in the future.
    /// - Returns: The verified records, and those that failed.
    package func verify(
        _ page: Page,
        from stream: StreamName,
        item itemKey: String,
        now: UnixMilliseconds
    ) -> VerifiedPage {
        var verified = VerifiedPage(isOneResponse: true, expecting: page.records.count)
        for record in page.records {
            switch record {
            case .transaction(let jws):
                add(.text(jws), as: .transaction, now: now, to: &verified)
            case .refund(let jws):
                add(.text(jws), as: .transaction, isRefund: true, now: now, to: &verified)
            case .notification(let jws, let sendAttempts):
                add(.text(jws), as: .notification, sendAttempts: sendAttempts, now: now, to: &verified)
            case .appTransaction(let jws):
                add(.text(jws), as: .appTransaction, now: now, to: &verified)
            case .subscriptionStatus(let subscription):
                add(subscription, item: itemKey, now: now, to: &verified)
            case .order(let isValid, let transactions):
                add(order: itemKey, isValid: isValid, transactions, now: now, to: &verified)
            case .customerGroup(let group): verified.add(group, ofListed: itemKey)
            case .groupMember(let id): verified.add(member: id, of: itemKey)
            case .seatInfo(let seats): verified.add(seats, of: itemKey)
            case .unusableAnswer(let text, let reason):
                let detail = "A record of \(stream.rawValue) for \(itemKey): \(reason)."
                verified.rejected.append(RejectedRecord(RecordRejection(.unreadable, detail), raw: text, as: nil))
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
    ///   - areRefunds: Whether they came from refund history.
    ///   - now: The time of the database's clock.
    /// - Returns: The verified records, and those that failed.
    package func verify(
        archived: [SignedText],
        as kind: RecordKind,
        areRefunds: Bool,
        now: UnixMilliseconds
    ) -> VerifiedPage {
        var verified = VerifiedPage(isOneResponse: false, expecting: archived.count)
        for text in archived { add(text, as: kind, isRefund: areRefunds, now: now, to: &verified) }
        return verified
    }

    /// Verifies one record of unknown kind, such as a rejected one.
    ///
    /// The fields of the record decide its kind before the app is checked. Otherwise another app's transaction would
    /// pass as renewal info, which has no app.
    ///
    /// - Parameters:
    ///   - jws: The record as received.
    ///   - isRefund: Whether it came from refund history.
    ///   - now: The time of the database's clock.
    /// - Returns: The verified record, or the failed one.
    package func verify(anyKind jws: String, isRefund: Bool, now: UnixMilliseconds) -> VerifiedPage {
        var verified = VerifiedPage(isOneResponse: true)
        let kind = kind(of: jws, now: now)
        add(.text(jws), as: kind, isRefund: isRefund && kind == .transaction, now: now, to: &verified)
        return verified
    }

    /// The order matters, because a transaction also has the field that is the key of renewal info.
    private func kind(of jws: String, now: UnixMilliseconds) -> RecordKind {
        // A text that fails verification is rejected for that reason, for any kind.
        guard let payload = try? payload(of: .text(jws), as: .notification, now: now) else { return .notification }
        let kinds: [RecordKind] = [.notification, .transaction, .renewalInfo, .appTransaction]
        return kinds.first { payload.json[$0.keyField] != nil } ?? .notification
    }

    /// - Returns: The record; `nil` if it failed.
    @discardableResult
    func add(
        _ text: SignedText,
        as kind: RecordKind,
        isRefund: Bool = false,
        sendAttempts: [JSONElement] = [],
        now: UnixMilliseconds,
        to page: inout VerifiedPage
    ) -> VerifiedRecord? {
        guard let record = verify(text, as: kind, now: now, rejected: &page.rejected) else { return nil }
        page.entries.append(VerifiedPage.Entry(record: record, isRefund: isRefund, sendAttempts: sendAttempts))
        return record
    }
}
