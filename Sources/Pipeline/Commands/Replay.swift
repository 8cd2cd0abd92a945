import AppStoreModel
import Basics
import FoundationEssentials
import JobPlan
import Ledger
import LedgerSchema
import Normalize
import SignedData
import Synchronization

/// The result of a replay.
package struct ReplayReport: Sendable, Equatable {
    /// Payloads that were verified again.
    package fileprivate(set) var payloads = 0
    package fileprivate(set) var rowsNew = 0
    package fileprivate(set) var rowsUpdated = 0
    package fileprivate(set) var rowsUnchanged = 0
    package fileprivate(set) var rejected = 0
    /// Rejected records that still cannot be loaded, and that an operator has dismissed.
    package fileprivate(set) var dismissed = 0
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
    /// Payloads in one batch: larger batches are not faster, and smaller ones spend more time on commits.
    private static let replayBatch = 1_000

    /// Concurrent batches, limited because of memory: one for each core and one that waits for PostgreSQL.
    private static let replayWidth = ProcessInfo.processInfo.activeProcessorCount + 1

    /// Verifies and normalises the records in the ledger again; sends no request to Apple.
    ///
    /// - Parameters:
    ///   - rejectedOnly: Reads the rejected records instead of the archive. Those that now pass are loaded, and marked
    ///     as resolved in the same transaction.
    ///   - report: Called with each message for the operator.
    /// - Returns: The number of verified records, and the changes.
    package func replay(
        rejectedOnly: Bool,
        report: (String) -> Void = { _ in }
    ) async throws -> ReplayReport {
        let (jwsVerifier, fingerprints) = try Credentials.trust(of: job)
        try await openLedgerToWrite()
        // With another root, the replay would reject the whole archive or load a forged reject.
        for remark in try await claimOrigins(fingerprints, asksServer: false) { report(remark) }
        var result = ReplayReport()
        for (app, environment) in try await knownApps() {
            let verifier = RecordVerifier(
                bundleId: job.app.bundleId,
                environment: environment,
                appAppleId: job.app.appAppleId,
                verifier: jwsVerifier
            )
            if rejectedOnly {
                try await replayRejects(app, verifier, into: &result)
            } else {
                try await replayArchive(app, verifier, into: &result)
            }
        }
        return result
    }

    /// Reads batches one after the other, while earlier batches are verified and merged on all cores.
    private func replayArchive(
        _ app: AppID,
        _ verifier: RecordVerifier,
        into result: inout ReplayReport
    ) async throws {
        let place = Mutex<ArchivePlace?>(nil)
        let sum = Mutex(result)
        try await withBoundedWorkers(
            width: Self.replayWidth,
            next: {
                let batch = try await ledger.archive(of: app, after: place.withLock { $0 }, atMost: Self.replayBatch)
                place.withLock { $0 = batch.end }
                return batch.payloads.isEmpty ? nil : batch.payloads
            }
        ) { batch in
            for part in ReplayPart.parts(of: batch) {
                let rows = await part.rows(verifier, ledger.clock)
                let counts = try await ledger.write(
                    rows,
                    from: origin(app, part.stream),
                    // A record inside a notification may be accepted for the first time, and is then archived.
                    mode: part.kind.nestsRecords ? .replayed : .replayedFromArchive
                )
                sum.withLock { sum in
                    sum.payloads += part.payloads.count
                    sum.add(counts, rejected: rows.rejected.count)
                }
            }
        }
        result = sum.withLock { $0 }
    }

    private func replayRejects(
        _ app: AppID,
        _ verifier: RecordVerifier,
        into result: inout ReplayReport
    ) async throws {
        var last: Int64 = 0
        while true {
            try Task.checkCancellation()
            let batch = try await ledger.unresolvedRejects(of: app, after: last, atMost: Self.replayBatch)
            guard let end = batch.last else { return }
            last = end.recordID
            for reject in batch {
                result.payloads += 1
                let verified = verifier.verify(
                    anyKind: String(decoding: reject.raw, as: UTF8.self),
                    isRefund: AllStreams.refundStreams.contains(reject.stream),
                    now: ledger.clock
                )
                let rows = Normalizer.normalize(verified)
                guard rows.rejected.isEmpty, !rows.snapshots.isEmpty else {
                    if reject.isDismissed { result.dismissed += 1 } else { result.rejected += 1 }
                    continue
                }
                let counts = try await ledger.write(
                    rows,
                    from: origin(app, reject.stream, itemKey: reject.itemKey),
                    resolving: [reject.recordID]
                )
                result.add(counts, rejected: 0)
            }
        }
    }

    /// - Parameter itemKey: The item under which a rejected record came. If it is a listed ID or an order ID, it links
    ///   the record to its customer, as in a crawl: an erasure finds an app transaction by nothing else.
    /// - Returns: The origin, without a run.
    private func origin(_ app: AppID, _ stream: StreamName, itemKey: String? = nil) -> RowOrigin {
        let isOrder = AllStreams.type(of: stream)?.itemKind == .order
        return RowOrigin(
            app: app,
            job: job.name,
            run: nil,
            stream: stream,
            listedTransactionID: isOrder ? nil : itemKey.flatMap(TransactionID.init)?.text,
            orderID: isOrder ? itemKey.flatMap(OrderID.init)?.text : nil
        )
    }
}

/// The records of a batch that are replayed as records of one stream.
private struct ReplayPart {
    let stream: StreamName
    let payloads: [StoredPayload]
    let kind: RecordKind

    /// The parts of a batch, one for each stream that replays a kind of record.
    ///
    /// Records that came in notifications are verified twice: with those, because a notification's row depends on its
    /// records, and by themselves. The archive does not say which records came in notifications, and reads them many batches
    /// apart, so verifying them once would need a memory of every signature.
    static func parts(of batch: [StoredPayload]) -> [ReplayPart] {
        AllStreams.types.compactMap { type -> ReplayPart? in
            guard let kind = type.replayedKind else { return nil }
            let payloads = batch.filter { $0.kind == kind && $0.isRefund == type.returnsRefunds }
            return payloads.isEmpty ? nil : ReplayPart(stream: type.name, payloads: payloads, kind: kind)
        }
    }

    /// Verifies and normalises on any free core.
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
            areRefunds: AllStreams.refundStreams.contains(stream),
            now: now
        )
        return Normalizer.normalize(verified)
    }
}
