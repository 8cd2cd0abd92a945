package import Basics
import Hummingbird
import HummingbirdCore
import Inbox
package import JobFiles
import Ledger
import LedgerSchema
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
    /// How often notifications to forward whose term has ended are given up.
    private static let givingUpPause = Duration.seconds(60)

    private let listen: ListenAddress
    private let limits: ReceiverLimits
    private let apps: [ReceivedApp]
    private let time: Timekeeper
    private let report: @Sendable (ReceiverEvent) -> Void

    /// - Parameters:
    ///   - listen: Where to listen.
    ///   - limits: What a request is allowed.
    ///   - apps: At least one, each with another bundle ID or environment.
    ///   - time: The clocks.
    ///   - report: Called for each event.
    package init(
        listen: ListenAddress,
        limits: ReceiverLimits,
        apps: [ReceivedApp],
        time: Timekeeper,
        report: @escaping @Sendable (ReceiverEvent) -> Void
    ) {
        self.listen = listen
        self.limits = limits
        self.apps = apps
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
        let metrics = ReceiverMetrics(
            apps: apps.map(\.labels),
            forwards: apps.flatMap { app in app.destinations.map { (app.labels, $0.name) } }
        )
        let forwarding = try Forwarding(apps, metrics: metrics, time: time, report: report)
        let work = zip(apps, inboxes()).map { app, inbox in AppWork(app, inbox, metrics, self, forwarding, ending) }
        let responder = NotificationResponder(
            inboxes: Dictionary(grouping: work.map(\.inbox), by: \.app.path),
            limits: limits,
            metrics: metrics,
            time: time,
            report: report
        )
        let normalizing = Task {
            await withTaskGroup { group in
                for app in work { group.addTask { await app.worker.run(app.wakes) } }
            }
        }
        let forwarded = Task { await forwarding.run() }
        let givingUp = Task { [time] in
            while !Task.isCancelled {
                await forwarding.giveUpOld()
                try? await time.sleep(Self.givingUpPause)
            }
        }
        let ticking = Task { [time] in
            while !Task.isCancelled {
                for app in work {
                    app.inbox.commits.failOverdue()
                    app.inbox.stored()
                }
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
        let reading = Task { [time, apps] in
            while !Task.isCancelled {
                for app in apps { await app.readAgain() }
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
        givingUp.cancel()
        normalizing.cancel()
        forwarding.finish()
        for app in work { app.wake.finish() }
        await normalizing.value
        await forwarded.value
        ending.finish()
        if let error = await awaitingEnd.value { throw error }
        try outcome.get()
    }

    /// The inbox of each app; the inboxes in a ledger share their sessions.
    private func inboxes() -> [NotificationInbox] {
        var known: [(ledger: Ledger, inbox: NotificationInbox)] = []
        return apps.map { app in
            if let other = known.first(where: { $0.ledger.isSame(as: app.ledger) })?.inbox {
                return other.sharingSessions(with: app.origin.app, forwardingTo: app.destinations.map(\.name))
            }
            let inbox = app.ledger.inbox(
                of: app.origin.app,
                sessions: Self.commits,
                patience: Self.connectPatience,
                forwardingTo: app.destinations.map(\.name)
            )
            known.append((app.ledger, inbox))
            return inbox
        }
    }

    /// What is done for one app.
    private struct AppWork: Sendable {
        let inbox: AppInbox
        let worker: InboxWorker
        let wakes: AsyncStream<Void>
        let wake: AsyncStream<Void>.Continuation

        init(
            _ app: ReceivedApp,
            _ inbox: NotificationInbox,
            _ metrics: ReceiverMetrics,
            _ receiver: Receiver,
            _ forwarding: Forwarding,
            _ ending: AsyncStream<LedgerError>.Continuation
        ) {
            let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            self.wakes = wakes
            self.wake = wake
            self.inbox = AppInbox(
                app: app,
                commits: GroupCommit(
                    width: Receiver.commits,
                    patience: receiver.limits.storeTime,
                    time: receiver.time
                ) { batch in try await ending.noting { try await inbox.store(batch) } },
                quarantine: RefusedNotifications { try await inbox.quarantine($0) },
                ageOfOldestPending: { try await ending.noting { try await inbox.ageOfOldestPending() } },
                forwards: { try await forwarding.counts(of: app) },
                stored: {
                    wake.yield()
                    forwarding.wake(app)
                }
            )
            let (ledger, origin, records) = (app.ledger, app.origin, app.records)
            worker = InboxWorker(
                normalize: { most, skipped in
                    try await ending.noting {
                        try await ledger.normalizeReceived(
                            from: origin,
                            atMost: most,
                            skipping: skipped,
                            records: records
                        )
                    }
                },
                pending: { most, skipped in
                    try await ledger.pendingNotifications(of: origin.app, atMost: most, skipping: skipped)
                },
                count: { metrics.normalize($0, of: app.labels) },
                time: receiver.time,
                report: receiver.report
            )
        }
    }

    /// Serves until the task is cancelled and every request is answered.
    private func serve(_ responder: NotificationResponder, _ metrics: ReceiverMetrics) async -> Result<Void, any Error>
    {
        let application = Application(
            responder: responder,
            server: server(metrics),
            configuration: ApplicationConfiguration(
                address: .hostname(listen.host, port: listen.port),
                serverName: nil,
                backlog: 1_024,
                availableConnectionsDelegate: MaximumAvailableConnections(limits.connections, logger: .quiet)
            ),
            onServerRunning: { [listen, report] channel in
                report(.listening(port: channel.localAddress?.port ?? listen.port))
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
            return CannotListen(address: listen.description, reason: systemErrorText(error.errnoCode))
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
