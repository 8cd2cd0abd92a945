package import AppStoreModel
package import LedgerTables

extension Normalizer {
    /// A single record whose kind nobody noted, say one that was rejected: as the first kind it verifies and maps as.
    ///
    /// A transaction has keys of all three kinds, a renewal info none of a transaction's own, a notification neither's;
    /// so the order decides.
    ///
    /// - Parameters:
    ///   - jws: As it came.
    ///   - isRefund: Whether refund history returned it.
    ///   - now: As in ``normalize(_:from:now:)``.
    /// - Returns: What it adds to the ledger; when it is still not to be believed, the rejection as a notification.
    package func normalize(anyKind jws: String, isRefund: Bool, now: UnixMilliseconds) -> PageRows {
        let kinds: [(inout PageCollector) -> Void] = [
            { addTransaction(jws, isRefund: isRefund, now: now, to: &$0) },
            { _ = addRenewal(jws, now: now, to: &$0) },
            { addNotification(jws, sendAttempts: [], now: now, to: &$0) },
        ]
        var rows = PageRows()
        for add in kinds {
            var collector = PageCollector()
            add(&collector)
            rows = collector.rows
            if rows.rejected.isEmpty { break }
        }
        return rows
    }
}
