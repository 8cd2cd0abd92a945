package import AppStoreModel
import Basics
import FoundationEssentials
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import SignedData

/// A running simulated App Store of one account, on loopback.
package struct SimulatedAppStore: Sendable {
    package let port: Int
    /// The directory of its files.
    package let directory: String
    package var baseURL: String { "http://127.0.0.1:\(port)" }

    private let group: ServiceGroup
    private let serving: Task<Void, any Error>

    /// Builds the directory's world, opens the port, writes the files, and returns when requests are answered.
    ///
    /// - `routes`: The endpoints of Apple's API that it answers.
    /// - `now`: The clock of rate limits, tokens and date checks.
    ///
    /// Throws ``SimulatorError`` when an option, a file or the port is not usable.
    static func start(
        _ configuration: SimulatorConfiguration,
        routes: [Route] = Route.all,
        now: @escaping @Sendable () -> UnixMilliseconds = { .current }
    ) async throws -> SimulatedAppStore {
        try configuration.check()
        let bootstrap = try SimulatorBootstrap(configuration, routes: routes, now: now)
        // Yields the port once the files are written; fails when they cannot be written.
        let (ready, announcement) = AsyncThrowingStream<Int, any Error>.makeStream()
        let application = Application(
            responder: bootstrap.responder,
            configuration: ApplicationConfiguration(
                address: .hostname("127.0.0.1", port: configuration.port),
                serverName: nil
            ),
            onServerRunning: { channel in
                // The port is open, but no connection is accepted before this returns.
                do {
                    let port = channel.localAddress?.port ?? configuration.port
                    for files in bootstrap.files {
                        try files.write(port: port, processID: ProcessInfo.processInfo.processIdentifier)
                    }
                    announcement.yield(port)
                } catch {
                    announcement.finish(throwing: error)
                }
            },
            logger: .quiet
        )
        var services: [any Service] = [application]
        for poster in bootstrap.posters { services.append(poster) }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services,
                logger: .quiet
            )
        )
        // Awaited by `finished()` and `stop()`.
        let serving = Task {
            do {
                try await group.run()
                announcement.finish()
            } catch {
                announcement.finish(throwing: error)
                throw error
            }
        }
        do {
            var announcements = ready.makeAsyncIterator()
            guard let port = try await announcements.next() else { throw CancellationError() }
            return SimulatedAppStore(port: port, directory: configuration.directory, group: group, serving: serving)
        } catch {
            await group.triggerGracefulShutdown()
            // Its result is not needed: the error is known already.
            _ = await serving.result
            throw (error as? SimulatorError) ?? configuration.bindingError(error)
        }
    }

    /// Runs a simulated App Store until SIGINT or SIGTERM, and then finishes the running requests.
    ///
    /// - `ready`: Called once requests are answered.
    ///
    /// Throws what ``start(_:now:)`` throws.
    package static func serve(
        _ configuration: SimulatorConfiguration,
        ready: @escaping @Sendable (SimulatedAppStore) -> Void
    ) async throws {
        do {
            try await withSignalsAsCancellation {
                let store = try await start(configuration)
                ready(store)
                try await store.finished()
            }
        } catch let interrupted as Interrupted {
            // A signal is the normal end of a server.
            if let error = interrupted.failure { throw error }
        }
    }

    /// Waits until the server has stopped.
    ///
    /// Cancellation stops it gracefully.
    package func finished() async throws {
        try await withTaskCancellationHandler {
            try await serving.value
        } onCancel: {
            // The task is not awaited here: `serving.value` above waits for the server to stop.
            Task { await group.triggerGracefulShutdown() }
        }
    }

    /// Finishes the running requests, closes the port and waits for both.
    package func stop() async throws {
        await group.triggerGracefulShutdown()
        try await serving.value
    }
}

extension SimulatorConfiguration {
    fileprivate func bindingError(_ error: any Error) -> any Error {
        guard error is IOError else { return error }
        return SimulatorError(.port, "Listening on 127.0.0.1 port \(port): \(error). Use --port 0 for any free port.")
    }
}

extension UnixMilliseconds {
    /// The system's clock.
    package static var current: UnixMilliseconds {
        UnixMilliseconds(rawValue: Timekeeper.system.wallClock())
    }
}

extension Logger {
    /// Logs critical problems only, to stderr: stdout has the results.
    fileprivate static var quiet: Logger {
        var logger = Logger(label: "appstore-simulator") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .critical
        return logger
    }
}
