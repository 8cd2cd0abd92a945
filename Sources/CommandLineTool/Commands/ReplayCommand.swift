import JobSyntax
import Streams
import AppStoreModel
import ArgumentParser
import Basics
import FoundationEssentials
import JobFiles
import Ledger
import LedgerSchema
import Normalize
import Pipeline
import SignedData
import Synchronization

struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Verify and normalise the archived records again, without requests to Apple.",
        discussion: """
            Use it after an upgrade that reads more fields. Use --rejected after a
            certificate rotation.

              storeledger replay jobs/nightly-sync.yaml
              storeledger replay jobs/nightly-sync.yaml --rejected
            """
    )

    @OptionGroup var job: JobArgument

    @Flag(help: "Replay rejected records instead of the archive; valid ones are loaded and marked as resolved.")
    var rejected = false

    func run() async throws {
        try await perform(job: job.path) {
            let pipelines = try job.pipelines()
            try await job.forEach(pipelines) { pipeline in
                let report = try await replay(pipeline)
                let app = pipelines.count > 1 ? "\(pipeline.job.app.bundleId): " : ""
                Console.result(
                    "\(app)\(report.payloads) payloads: \(report.rowsNew) new, \(report.rowsUpdated) updated, "
                        + "\(report.rowsUnchanged) unchanged, \(report.rejected) rejected"
                        + (report.dismissed > 0 ? ", \(report.dismissed) rejected as before and dismissed" : "")
                        + (report.withheld > 0 ? ", \(report.withheld) withheld of erased customers" : "")
                )
                let warning =
                    report.rowsNew + report.rowsUpdated > 0 ? await pipeline.refreshAfterwards(evenIfFresh: true) : nil
                if let warning { Console.message("storeledger: \(warning)") }
                if report.rejected > 0 || warning != nil { throw ExitCode(ExitStatus.completeWithLosses.rawValue) }
            }
        }
    }

    /// Verifies and normalises the records in the ledger again; sends no request to Apple.
    ///
    /// Rejected records that now pass are loaded, and marked as resolved in the same transaction.
    private func replay(_ pipeline: Pipeline) async throws -> ReplayReport {
        let (jwsVerifier, fingerprints) = try Credentials.trust(of: pipeline.job)
        try await pipeline.ledger.openToWrite()
        // With another root, the replay would reject the whole archive or load a forged reject.
        for remark in try await pipeline.claimOrigins(fingerprints, asksServer: false) {
            Console.message("storeledger: \(remark)")
        }
        var report = ReplayReport()
        for (app, environment) in try await pipeline.knownApps() {
            let verifier = RecordVerifier(
                bundleId: pipeline.job.app.bundleId,
                environment: environment,
                appAppleId: pipeline.job.app.appAppleId,
                verifier: jwsVerifier
            )
            if rejected {
                try await pipeline.replayRejects(app, verifier, into: &report)
            } else {
                try await pipeline.replayArchive(app, verifier, into: &report)
            }
        }
        return report
    }
}

/// The result of a replay.
private struct ReplayReport: Sendable, Equatable {
    /// Payloads that were verified again.
    var payloads = 0
    var rowsNew = 0
    var rowsUpdated = 0
    var rowsUnchanged = 0
    var rejected = 0
    /// Rejected records that still cannot be loaded, and that an operator has dismissed.
    var dismissed = 0
    /// Records of erased customers.
    var withheld = 0

    mutating func add(_ counts: RowCounts, rejected: Int) {
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

    /// Reads batches one after the other, while earlier batches are verified and merged on all cores.
    fileprivate func replayArchive(
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

    fileprivate func replayRejects(
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
