import AppStoreModel
package import Basics
package import JobPlan
package import Ledger
import LedgerSchema
import Normalize
package import Receiver
import SignedData

/// Receives notifications for one job.
///
///     POST ─► verify ─► commit ─► 200 ─► normalise ─► commit records
package struct ReceiverPipeline: Sendable {
    package let job: ReceiverJob
    package let ledger: Ledger
    let time: Timekeeper

    /// Makes the pipeline; reads nothing and opens no connection.
    package init(job: ReceiverJob, at address: LedgerAddress, time: Timekeeper = .system) {
        self.job = job
        self.time = time
        ledger = address.ledger(sessions: 2)
    }

    /// Receives until the task is cancelled.
    ///
    /// - Parameters:
    ///   - settings: The job's settings, changed by the options of the command line.
    ///   - limits: What a request is allowed.
    package func receive(
        _ settings: ReceiverSettings,
        limits: ReceiverLimits,
        report: @escaping @Sendable (ReceiverEvent) -> Void
    ) async throws {
        let remark = { @Sendable in report(.remark($0)) }
        let trust = try ReceiverTrust(of: job, claim: { try await claim($0) }, remark: remark)
        try await ledger.openToWrite()
        let app = try await openApp(trust.fingerprints, remark)
        ledger.reportWhenClockIsSet(remark)
        let now = { @Sendable [ledger] in ledger.clock }
        let receiver = Receiver(
            settings: settings,
            limits: limits,
            verifier: NotificationVerifier(
                bundleId: job.app.bundleId,
                environment: job.app.environment,
                trust: { trust.now },
                now: now
            ),
            ledger: ledger,
            origin: RowOrigin(
                app: app,
                job: job.name,
                run: nil,
                stream: AllStreams.changedCustomersStream.name,
                listedTransactionID: nil
            ),
            records: { texts, signedAt in
                Normalizer.normalize(
                    trust.now.records.verify(
                        archived: texts.map(SignedText.text),
                        as: .notification,
                        areRefunds: false,
                        // What was accepted stays accepted when the clock is set back before the records are made.
                        now: max(now(), signedAt)
                    )
                )
            },
            readAgain: { await trust.readAgain() },
            time: time,
            report: report
        )
        try await receiver.run()
    }

    /// Where the notifications are from that the job accepts.
    func origin(_ fingerprints: [String]) -> RecordOrigin {
        RecordOrigin(server: job.baseURL, trustedRoots: fingerprints)
    }

    /// The job's app, after a check that its records are signed under the roots that the job trusts.
    ///
    /// - Throws: ``Ledger/OtherOrigin``; then nothing is written.
    private func openApp(_ fingerprints: [String], _ remark: (String) -> Void) async throws -> AppID {
        let (bundleId, environment) = (job.app.bundleId, job.app.environment.rawValue)
        let origin = origin(fingerprints)
        if let known = try await knownApp() { try await ledger.check([known: origin]) }
        let app = try await ledger.app(
            bundleId: bundleId,
            environment: environment,
            appAppleId: job.app.appAppleId
        )
        for sentence in try await ledger.claim([app: origin], asksServer: false) { remark(sentence) }
        return app
    }

    /// Records other roots of the job's app; see ``ReceiverTrust``.
    private func claim(_ fingerprints: [String]) async throws -> [String] {
        guard let app = try await knownApp() else { return [] }
        return try await ledger.claim([app: origin(fingerprints)], asksServer: false)
    }
}
