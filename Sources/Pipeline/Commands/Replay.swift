import AppStoreModel
import FoundationEssentials
import JobPlan
import Ledger
import LedgerSchema
import Normalize
import SignedData
import Synchronization
import Basics

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

extension Pipeline {
    /// Payloads read, verified and merged at a time; larger batches gain nothing, smaller ones lose to commits.
    private static let replayBatch = 1_000

    /// Batches at work at a time, which bounds the memory: one a core, and one that is with PostgreSQL.
    private static let replayWidth = ProcessInfo.processInfo.activeProcessorCount + 1

    /// Verifies and normalises again what the ledger holds already; Apple is not asked.
    ///
    /// - Parameters:
    ///   - rejectedOnly: The rejected records instead of the archive; those that pass now are loaded, and
    ///     marked as resolved in the same transaction.
    ///   - tell: Called with each sentence for the operator.
    /// - Returns: How much was verified, and what it changed.
    /// - Throws: What ``Failure/init(_:)`` explains.
    package func replay(
        rejectedOnly: Bool,
        report tell: (String) -> Void = { _ in }
    ) async throws -> ReplayReport {
        let (jwsVerifier, fingerprints) = try Credentials.trust(of: job)
        try await openLedger()
        // Under another root, every record of the archive would be rejected, or a forged reject be loaded.
        for remark in try await claimOrigins(fingerprints, asksServer: false) { tell(remark) }
        let now = try await ledger.now()
        var report = ReplayReport()
        for (app, environment) in try await knownApps() {
            let verifier = RecordVerifier(
                bundleId: job.app.bundleId,
                environment: environment,
                appAppleId: job.app.appAppleId,
                verifier: jwsVerifier
            )
            if rejectedOnly {
                try await replayRejects(app, verifier, now, into: &report)
            } else {
                try await replayArchive(app, verifier, now, into: &report)
            }
        }
        return report
    }

    /// Reads one batch after the other while the batches before are verified and merged on every core.
    private func replayArchive(
        _ app: AppID,
        _ verifier: RecordVerifier,
        _ now: UnixMilliseconds,
        into report: inout ReplayReport
    ) async throws {
        let place = Mutex<ArchivePlace?>(nil)
        let sum = Mutex(report)
        try await withBoundedWorkers(
            width: Self.replayWidth,
            next: {
                let batch = try await ledger.archive(of: app, after: place.withLock { $0 }, atMost: Self.replayBatch)
                place.withLock { $0 = batch.end }
                return batch.payloads.isEmpty ? nil : batch.payloads
            }
        ) { batch in
            for part in ReplayPart.parts(of: batch) {
                let rows = await part.rows(verifier, now)
                let counts = try await ledger.write(
                    rows,
                    from: origin(app, part.stream),
                    // A record that is signed inside an archived one may be accepted for the first time.
                    mode: part.kind.nestsRecords ? .replayed : .replayedFromArchive
                )
                sum.withLock { sum in
                    sum.payloads += part.payloads.count
                    sum.add(counts, rejected: rows.rejected.count)
                }
            }
        }
        report = sum.withLock { $0 }
    }

    private func replayRejects(
        _ app: AppID,
        _ verifier: RecordVerifier,
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
                let verified = verifier.verify(
                    anyKind: String(decoding: reject.raw, as: UTF8.self),
                    isRefund: AllStreams.bringingRefunds.contains(reject.stream),
                    now: now
                )
                let rows = Normalizer.normalize(verified)
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

    private func origin(_ app: AppID, _ stream: StreamName) -> RowOrigin {
        RowOrigin(app: app, job: job.name, run: nil, stream: stream, listedTransactionID: nil)
    }
}

/// What of a batch came with one history, and is filed under it.
private struct ReplayPart {
    let stream: StreamName
    let payloads: [StoredPayload]
    let kind: RecordKind

    /// Renewal infos and app transactions are in the archive because notifications carry them, and come again with those.
    static func parts(of batch: [StoredPayload]) -> [ReplayPart] {
        AllStreams.types.compactMap { type -> ReplayPart? in
            let payloads = batch.filter {
                $0.kind == type.replayedKind && $0.isRefund == type.bringsRefunds
            }
            guard !payloads.isEmpty, let kind = type.replayedKind else { return nil }
            return ReplayPart(stream: type.name, payloads: payloads, kind: kind)
        }
    }

    /// Verifies and normalises, on whichever core is free.
    @concurrent
    func rows(_ verifier: RecordVerifier, _ now: UnixMilliseconds) async -> PageRows {
        let archived = payloads.map { stored in
            SignedText.parts(
                JWSParts(header: stored.header, payload: stored.payload, signature: stored.signature)
            )
        }
        let verified = verifier.verify(
            archived: archived,
            as: kind,
            areRefunds: AllStreams.bringingRefunds.contains(stream),
            now: now
        )
        return Normalizer.normalize(verified)
    }
}
