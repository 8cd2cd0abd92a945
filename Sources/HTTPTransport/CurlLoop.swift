import Platform
import Synchronization

/// The loop of the transport's thread: accepts requests, lets libcurl transfer bytes, and delivers results.
///
/// All calls of libcurl except the wake-up happen inside ``run()``, on this thread.
final class CurlLoop: Sendable {
    /// Gets the result of an exchange, on the transport's thread.
    typealias Waiter = @Sendable (Result<HTTPResponse, any Error>) -> Void

    enum Command: Sendable {
        case start(UInt64, HTTPRequest, Waiter)
        case cancel(UInt64)
    }

    private struct Inbox {
        var commands: [Command] = []
        var isOpen = true

        mutating func takeAll() -> [Command] {
            defer { commands = [] }
            return commands
        }
    }

    /// The number of consecutive failures of libcurl itself that end the loop.
    ///
    /// libcurl fails as a whole when memory is short for a moment, so the loop retries for two seconds.
    private static let maximumFailures = 100
    private static let microsecondsAfterFailure: UInt32 = 20_000

    private let inbox = Mutex(Inbox())
    private let multi: CurlMulti
    private let settings: CurlSettings

    init(_ configuration: TransportConfiguration) throws(TransportFault) {
        settings = try CurlSettings(configuration)
        multi = try CurlMulti(maximumConnections: configuration.maximumConnections)
    }

    /// Passes a command to the loop; may be called from any thread.
    func enqueue(_ command: Command) {
        let isAccepted = inbox.withLock { inbox in
            guard inbox.isOpen else { return false }
            inbox.commands.append(command)
            // Inside the lock, because the multi handle exists only while the inbox is open.
            multi.wake()
            return true
        }
        if !isAccepted { refuse(command) }
    }

    /// Makes ``run()`` return soon; may be called from any thread.
    func stop() {
        inbox.withLock { inbox in
            guard inbox.isOpen else { return }
            inbox.isOpen = false
            multi.wake()
        }
    }

    /// Runs until ``stop()``.
    func run() {
        var exchanges = Exchanges(multi: multi, settings: settings)
        var failures = 0
        while let commands = takeCommands() {
            for command in commands {
                switch command {
                case .start(let ticket, let request, let waiter): exchanges.start(ticket, request, waiter)
                case .cancel(let ticket): exchanges.cancel(ticket)
                }
            }
            if exchanges.advance(), multi.waitForWork() {
                failures = 0
            } else {
                failures += 1
                guard failures < Self.maximumFailures else {
                    inbox.withLock { $0.isOpen = false }
                    break
                }
                usleep(Self.microsecondsAfterFailure)
            }
        }
        exchanges.endAll()
        multi.close()
        for command in inbox.withLock({ $0.takeAll() }) { refuse(command) }
    }

    private func takeCommands() -> [Command]? {
        inbox.withLock { $0.isOpen ? $0.takeAll() : nil }
    }

    private func refuse(_ command: Command) {
        guard case .start(_, _, let waiter) = command else { return }
        waiter(.failure(TransportFault.shutDown))
    }
}

extension TransportFault {
    static let shutDown = TransportFault(.unavailable, "The HTTP transport was shut down.")
}
