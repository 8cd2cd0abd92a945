import AppStoreModel
import JobPlan
import Ledger
import LedgerTables
import Normalize
import SignedData

/// What a replay came to.
package struct ReplayReport: Sendable, Equatable {
    /// Payloads that were verified again.
    package fileprivate(set) var payloads = 0
    package fileprivate(set) var rowsNew = 0
    package fileprivate(set) var rowsUpdated = 0
    package fileprivate(set) var rowsUnchanged = 0
    package fileprivate(set) var rejected = 0
    /// Records of erased customers.
    package fileprivate(set) var withheld = 0

    fileprivate mutating func add(_ counts: RowCounts, rejected: Int) {
        rowsNew += counts.new
        rowsUpdated += counts.updated
        rowsUnchanged += counts.unchanged
        withheld += counts.withheld
        self.rejected += rejected
    }
}

extension ExportPipeline {
    /// Payloads verified and merged at a time; larger batches gain nothing, smaller ones lose to commits.
    private static let replayBatch = 1_000

    /// Verifies and normalises again what the ledger holds already; Apple is not asked.
    ///
    /// - Parameter rejectedOnly: The rejected records instead of the archive; those that pass now are loaded, and
    ///   marked as resolved in the same transaction.
    /// - Returns: How much was verified, and what it changed.
    /// - Throws: What ``Failure/init(_:)`` explains.
    package func replay(rejectedOnly: Bool) async throws -> ReplayReport {
        let verifier = try Credentials.trust(of: job).verifier
        try await openLedger()
        let now = try await ledger.now()
        var report = ReplayReport()
        for (app, environment) in try await knownApps() {
            let normalizer = Normalizer(
                bundleId: job.app.bundleId,
                environment: environment,
                appAppleId: job.app.appAppleId,
                verifier: verifier
            )
            if rejectedOnly {
                try await replayRejects(app, normalizer, now, into: &report)
            } else {
                try await replayArchive(app, normalizer, now, into: &report)
            }
        }
        return report
    }

    private func replayArchive(
        _ app: AppID,
        _ normalizer: Normalizer,
        _ now: UnixMilliseconds,
        into report: inout ReplayReport
    ) async throws {
        var last: StoredPayload?
        while true {
            try Task.checkCancellation()
            let batch = try await ledger.archive(of: app, after: last, atMost: Self.replayBatch)
            guard let end = batch.last else { return }
            last = end
            // Renewal infos and app transactions are in the archive because notifications carry them, and come again with those.
            let streams: [(AppStoreModel.Stream, [StoredPayload])] = [
                (.transactionHistory, batch.filter { $0.kind == "transaction" && !$0.isRefund }),
                (.refundHistory, batch.filter { $0.kind == "transaction" && $0.isRefund }),
                (.notificationHistory, batch.filter { $0.kind == "notification" }),
            ]
            for (stream, payloads) in streams where !payloads.isEmpty {
                let records = payloads.map { stored -> PageRecord in
                    let jws = CompactJWS.text(
                        header: stored.header,
                        payload: stored.payload,
                        signature: stored.signature
                    )
                    return stream == .notificationHistory
                        ? .notification(jws: jws, sendAttempts: []) : .transaction(jws: jws)
                }
                let page = Page(records: records, cursor: nil, hasMore: false)
                let rows = normalizer.normalize(page, from: stream, now: now)
                let counts = try await ledger.write(rows, from: origin(app, stream.rawValue))
                report.payloads += payloads.count
                report.add(counts, rejected: rows.rejected.count)
            }
        }
    }

    private func replayRejects(
        _ app: AppID,
        _ normalizer: Normalizer,
        _ now: UnixMilliseconds,
        into report: inout ReplayReport
    ) async throws {
        var last: Int64 = 0
        while true {
            try Task.checkCancellation()
            let batch = try await ledger.unresolvedRejects(of: app, after: last, atMost: Self.replayBatch)
            guard let end = batch.last else { return }
            last = end.recordID
            for reject in batch {
                report.payloads += 1
                let rows = normalizer.normalize(
                    anyKind: String(decoding: reject.raw, as: UTF8.self),
                    isRefund: reject.stream == AppStoreModel.Stream.refundHistory.rawValue,
                    now: now
                )
                guard rows.rejected.isEmpty, !rows.snapshots.isEmpty else {
                    report.rejected += 1
                    continue
                }
                let counts = try await ledger.write(
                    rows,
                    from: origin(app, reject.stream),
                    resolving: [reject.recordID]
                )
                report.add(counts, rejected: 0)
            }
        }
    }

    private func origin(_ app: AppID, _ stream: String) -> RowOrigin {
        RowOrigin(app: app, job: job.name, run: 0, stream: stream, listedTransactionID: nil)
    }
}
