package import AppStoreModel
package import Basics
import Hummingbird
import HummingbirdCore
package import JobPlan
package import Ledger
package import LedgerSchema
import Logging
import NIOCore
import ServiceLifecycle

/// Receives App Store Server Notifications: verifies, stores, answers, and makes records of them in the background.
package struct Receiver: Sendable {
    /// The most commits at a time: while one waits for the disk, the next is prepared.
    private static let commits = 2
    /// How long a request waits for a connection while PostgreSQL is not available.
    private static let connectPatience = Duration.seconds(1)
    /// How often overdue notifications are failed, and the inbox is searched for notifications that other receivers left behind.
    private static let tick = Duration.milliseconds(500)

    private let settings: ReceiverSettings
    private let limits: ReceiverLimits
    private let verifier: NotificationVerifier
    private let ledger: Ledger
    private let origin: RowOrigin
    private let records: @Sendable ([String], UnixMilliseconds) -> PageRows
    private let readAgain: @Sendable () async -> Void
    private let time: Timekeeper
    private let report: @Sendable (ReceiverEvent) -> Void

    /// - Parameters:
    ///   - settings: Where to listen.
    ///   - limits: What a request is allowed.
    ///   - verifier: Decides which notifications are accepted.
    ///   - ledger: Open, with a schema that this version supports.
    ///   - origin: Stored with the records.
    ///   - records: Verifies and normalises signed texts that were accepted and signed until a moment.
    ///   - readAgain: Called regularly, to read again what may have changed since the start.
    package init(
        settings: ReceiverSettings,
        limits: ReceiverLimits,
        verifier: NotificationVerifier,
        ledger: Ledger,
        origin: RowOrigin,
        records: @escaping @Sendable ([String], UnixMilliseconds) -> PageRows,
        readAgain: @escaping @Sendable () async -> Void,
        time: Timekeeper,
        report: @escaping @Sendable (ReceiverEvent) -> Void
    ) {
        self.settings = settings
        self.limits = limits
        self.verifier = verifier
        self.ledger = ledger
        self.origin = origin
        self.records = records
        self.readAgain = readAgain
        self.time = time
        self.report = report
    }

    /// Receives until the task is cancelled, or the schema is no longer the one that was opened.
    ///
    /// Then it accepts no further connection, answers the requests that it has, and returns.
    ///
    /// - Throws: ``CannotListen``, other errors of the HTTP server; ``Ledger/LedgerError/schemaChanged(schema:)``, and from then on
    ///   notifications were answered with 503.
    package func run() async throws {
        let (endings, ending) = AsyncStream.makeStream(of: LedgerError.self)
        let inbox = ledger.inbox(of: origin.app, sessions: Self.commits, patience: Self.connectPatience)
        let metrics = ReceiverMetrics()
        let commits = GroupCommit(width: Self.commits, patience: limits.storeTime, time: time) {
            [inbox] batch in try await ending.noting { try await inbox.store(batch) }
        }
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let responder = NotificationResponder(
            path: settings.path,
            limits: limits,
            verifier: verifier,
            commits: commits,
            quarantine: RefusedNotifications { try await inbox.quarantine($0) },
            metrics: metrics,
            ageOfOldestPending: { try await ending.noting { try await inbox.ageOfOldestPending() } },
            time: time,
            report: report,
            stored: { wake.yield() }
        )
        let worker = worker(metrics, ending)
        let normalizing = Task { await worker.run(wakes) }
        let ticking = Task { [time] in
            while !Task.isCancelled {
                commits.failOverdue()
                wake.yield()
                // The sleep throws only when the task is cancelled, and then the loop ends.
                try? await time.sleep(Self.tick)
            }
        }
        let serving = Task { await serve(responder, metrics) }
        let awaitingEnd = Task { () -> LedgerError? in
            for await error in endings {
                serving.cancel()
                return error
            }
            return nil
        }
        let reading = Task { [time, readAgain] in
            while !Task.isCancelled {
                await readAgain()
                try? await time.sleep(Self.tick)
            }
        }
        let outcome = await withTaskCancellationHandler {
            await serving.value
        } onCancel: {
            serving.cancel()
        }
        ticking.cancel()
        reading.cancel()
        normalizing.cancel()
        wake.finish()
        await normalizing.value
        ending.finish()
        if let error = await awaitingEnd.value { throw error }
        try outcome.get()
    }

    private func worker(
        _ metrics: ReceiverMetrics,
        _ ending: AsyncStream<LedgerError>.Continuation
    ) -> InboxWorker {
        let (ledger, origin, records) = (ledger, origin, records)
        return InboxWorker(
            normalize: { most, skipped in
                try await ending.noting {
                    try await ledger.normalizeReceived(from: origin, atMost: most, skipping: skipped, records: records)
                }
            },
            pending: { most, skipped in
                try await ledger.pendingNotifications(of: origin.app, atMost: most, skipping: skipped)
            },
            metrics: metrics,
            time: time,
            report: report
        )
    }

    /// Serves until the task is cancelled and every request is answered.
    private func serve(_ responder: NotificationResponder, _ metrics: ReceiverMetrics) async -> Result<Void, any Error>
    {
        let application = Application(
            responder: responder,
            server: server(metrics),
            configuration: ApplicationConfiguration(
                address: .hostname(settings.listen.host, port: settings.listen.port),
                serverName: nil,
                backlog: 1_024,
                availableConnectionsDelegate: MaximumAvailableConnections(limits.connections, logger: .quiet)
            ),
            onServerRunning: { [settings, report] channel in
                report(.listening(port: channel.localAddress?.port ?? settings.listen.port))
            },
            logger: .quiet
        )
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(services: [application], logger: .quiet)
        )
        // A separate task, so that a cancellation shuts the server down gracefully instead of cancelling it.
        let serving = Task { try await group.run() }
        let result = await withTaskCancellationHandler {
            await serving.result
        } onCancel: {
            Task { await group.triggerGracefulShutdown() }
        }
        return result.mapError { error in
            guard let error = error as? IOError else { return error }
            return CannotListen(address: settings.listen.description, reason: systemErrorText(error.errnoCode))
        }
    }

    private func server(_ metrics: ReceiverMetrics) -> HTTPServerBuilder {
        let limits = limits
        return HTTPServerBuilder { responder in
            ReceiverChannel(
                http: HTTP1Channel(
                    responder: responder,
                    configuration: HTTP1Channel.Configuration(idleTimeout: TimeAmount(limits.idleTime))
                ),
                readLimit: TimeAmount(limits.readTime),
                tookTooLong: { metrics.refuse("too_slow") }
            )
        }
    }
}

extension AsyncStream<LedgerError>.Continuation {
    /// Runs `body`, and yields its error if it ends the receiver.
    fileprivate func noting<R: Sendable>(_ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch let error as LedgerError where error.isOfOtherSchema {
            yield(error)
            throw error
        }
    }
}

extension Logger {
    /// Logs only critical messages: anyone can open connections, and messages about each could fill the log.
    fileprivate static var quiet: Logger {
        var logger = Logger(label: "storeledger") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .critical
        return logger
    }
}
