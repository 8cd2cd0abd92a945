package import AppStoreModel
import FoundationEssentials
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import SignedData
import Workers

/// A running App Store of one app, on loopback.
package struct SimulatedAppStore: Sendable {
    package let port: Int
    /// Where its files are.
    package let directory: String
    package var baseURL: String { "http://127.0.0.1:\(port)" }

    private let group: ServiceGroup
    private let serving: Task<Void, any Error>

    /// Makes or takes up the directory's world, binds the port, writes the files, and returns when requests are answered.
    ///
    /// - `now`: The clock that limits, tokens and date checks go by.
    ///
    /// Throws ``SimulatorError`` when an option, a file or the port is not usable.
    package static func start(
        _ configuration: SimulatorConfiguration,
        now: @escaping @Sendable () -> UnixMilliseconds = { .current }
    ) async throws -> SimulatedAppStore {
        try configuration.check()
        let opening = try Opening(configuration, now: now)
        // Yields the port once the files are written; fails when that is not possible.
        let (ready, announcement) = AsyncThrowingStream<Int, any Error>.makeStream()
        let application = Application(
            responder: opening.responder,
            configuration: ApplicationConfiguration(
                address: .hostname("127.0.0.1", port: configuration.port),
                serverName: nil
            ),
            onServerRunning: { channel in
                // Bound, but nothing is accepted before this returns.
                do {
                    let port = channel.localAddress?.port ?? configuration.port
                    try opening.files.write(port: port, processID: ProcessInfo.processInfo.processIdentifier)
                    announcement.yield(port)
                } catch {
                    announcement.finish(throwing: error)
                }
            },
            logger: .quiet
        )
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [application],
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
            // The reason it ended is the error at hand.
            _ = await serving.result
            throw (error as? SimulatorError) ?? configuration.bindingError(error)
        }
    }

    /// Runs an App Store until SIGINT or SIGTERM, and then lets running requests end.
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
            // Being told to stop is how a server ends well.
            if let error = interrupted.unwinding { throw error }
        }
    }

    /// Waits until the server has stopped; being cancelled stops it gracefully.
    package func finished() async throws {
        try await withTaskCancellationHandler {
            try await serving.value
        } onCancel: {
            // Nobody needs its end: the line above waits for what it brings about.
            Task { await group.triggerGracefulShutdown() }
        }
    }

    /// Lets running requests end, closes the port and waits for both.
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
    /// Only what needs a human, on stderr: stdout belongs to results.
    fileprivate static var quiet: Logger {
        var logger = Logger(label: "appstore-simulator") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .critical
        return logger
    }
}
