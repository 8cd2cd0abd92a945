package import AppStoreModel
package import LedgerTables
import SignedData

extension Normalizer {
    /// A single record whose kind nobody noted, say one that was rejected: by the keys in it.
    ///
    /// Its own kind alone decides whether it is believed: a renewal info names no app, so another app's transaction would
    /// pass as one.
    ///
    /// - Parameters:
    ///   - jws: As it came.
    ///   - isRefund: Whether refund history returned it.
    ///   - now: As in ``normalize(_:from:now:)``.
    /// - Returns: What it adds to the ledger, or its rejection.
    package func normalize(anyKind jws: String, isRefund: Bool, now: UnixMilliseconds) -> PageRows {
        var collector = PageCollector()
        switch kind(of: jws, now: now) {
        case .transaction: addTransaction(.text(jws), isRefund: isRefund, now: now, to: &collector)
        case .renewalInfo: _ = addRenewal(.text(jws), now: now, to: &collector)
        case .notification, .appTransaction: addNotification(.text(jws), sendAttempts: [], now: now, to: &collector)
        }
        return collector.rows
    }

    /// A transaction has a renewal info's key beside its own, so the order matters.
    private func kind(of jws: String, now: UnixMilliseconds) -> RecordKind {
        // What does not verify is rejected for that, whatever it is taken for.
        guard let payload = try? verifier.verify(jws, now: now, maximumBytes: JWSVerifier.maximumNotificationBytes)
        else { return .notification }
        let kinds: [RecordKind] = [.notification, .transaction, .renewalInfo]
        return kinds.first { payload.json[$0.keyField] != nil } ?? .notification
    }
}
