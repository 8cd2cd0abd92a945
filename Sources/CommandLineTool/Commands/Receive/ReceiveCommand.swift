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
import Receiver
import SignedData

struct ReceiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive",
        abstract: "Receive App Store Server Notifications until SIGINT or SIGTERM.",
        discussion: """
            Answers 200 when a notification is durable in the ledger, and makes records of
            it in the background. Answers 503 whenever a later attempt could succeed: Apple
            repeats a notification for 157 hours. It speaks HTTP/1.1 behind a proxy that
            ends TLS. Several receivers can run at once. One receives for all apps and
            environments of its job files: the payload says which.

            GET /health is 200 while the database answers; GET /metrics is for Prometheus.

              storeledger receive jobs/nightly-sync.yaml
              storeledger receive production.yaml sandbox.yaml
              storeledger receive receiver.yaml --listen 127.0.0.1:8091
            """
    )

    @OptionGroup var jobs: JobsArgument

    @Option(
        help: ArgumentHelp(
            "The address and port; port 0 chooses any free one (default: receiver.listen, or \(ListenAddress.standard)).",
            valueName: "ADDRESS:PORT"
        )
    )
    var listen: ListenAddress?

    @Option(
        help: ArgumentHelp(
            "The path to which notifications are posted (default: receiver.path, or \(ReceiverSettings.defaultPath)).",
            valueName: "PATH"
        )
    )
    var path: String?

    func validate() throws {
        guard let path, !ReceiverSettings.isPath(path) else { return }
        throw ValidationError("--path is \(path); it must be \(ReceiverSettings.pathRule).")
    }

    func run() async throws {
        try await perform(job: jobs.paths.count == 1 ? jobs.paths[0] : nil, endsBySignal: true) {
            let jobs = try jobs.loadEach(.receiver).map(\.job)
            try checkTogether(jobs, listen: listen)
            let urls = jobs.flatMap(\.receiver.forwards).map(\.url)
            guard urls.allSatisfy(\.isLoopback) || ProcessInfo.processInfo.environment["SSLKEYLOGFILE"] == nil else {
                throw TLSKeysWouldBeWritten(of: "the URLs of receiver.forward")
            }
            let address = listen ?? jobs[0].receiver.listen
            var limits = ReceiverLimits()
            limits.connections = min(limits.connections, OpenFiles.raiseLimit() - OpenFiles.reserve)
            let remark: @Sendable (String) -> Void = { Console.message("storeledger: \($0)") }
            var apps: [ReceivedApp] = []
            var ledgers: [(output: PostgresOutput, ledger: Ledger)] = []
            for (place, job) in jobs.enumerated() {
                let known = ledgers.first { $0.output.isSameLedger(as: job.postgres) }?.ledger
                let ledger = try known ?? LedgerAddress(of: job).ledger(sessions: 2)
                if known == nil {
                    ledgers.append((job.postgres, ledger))
                    try await ledger.openToWrite()
                    ledger.reportWhenClockIsSet(remark)
                }
                let app = jobs.count > 1 ? "\(job.app.bundleId) (\(job.app.environment.rawValue)): " : ""
                apps.append(
                    try await ReceiverPipeline(job: job, ledger: ledger).receivedApp(
                        path: path ?? job.receiver.path,
                        watchesJobFile: !jobs[..<place].contains { $0.path == job.path }
                    ) { remark(app + $0) }
                )
            }
            let receiver = Receiver(listen: address, limits: limits, apps: apps, time: .system) { event in
                if case .remark(let sentence) = event {
                    remark(sentence)
                } else if case .listening(let port) = event {
                    let listening = ListenAddress(host: address.host, port: port)
                    for job in jobs {
                        let app = "\(job.app.bundleId) (\(job.app.environment.rawValue))"
                        remark("receiving notifications of \(app) on http://\(listening)\(path ?? job.receiver.path)")
                    }
                } else if let trouble = Trouble(event), let report = TroubleLog.shared.note(trouble) {
                    remark(report.sentence)
                }
            }
            try await receiver.run()
        }
    }
}

///     POST ─► verify ─► commit ─► 200 ─► normalise ─► commit records
extension ReceiverPipeline {
    /// What a receiver needs for the job's app.
    ///
    /// - Parameters:
    ///   - path: The path to which its notifications are posted.
    ///   - watchesJobFile: Whether a change of the job file is remarked.
    ///   - remark: Called with each message for the operator.
    fileprivate func receivedApp(
        path: String,
        watchesJobFile: Bool,
        _ remark: @escaping @Sendable (String) -> Void
    ) async throws -> ReceivedApp {
        let trust = try ReceiverTrust(
            of: job,
            watchesJobFile: watchesJobFile,
            claim: { try await claim($0) },
            remark: remark
        )
        let app = try await openApp(trust.fingerprints, remark)
        let now = { @Sendable [ledger] in ledger.clock }
        return ReceivedApp(
            path: path,
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
            forwards: job.receiver.forwards
        )
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

extension ListenAddress: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}
