import Dispatch
import Synchronization

/// An HTTP client over libcurl: one thread for all requests, with shared persistent connections.
///
/// No redirects, cookies, proxies or netrc. TLS 1.2 or later, always verified. A request is sent once and never repeated
/// here, because every request counts against the app's limit.
package final class CurlTransport: Sendable {
    private let loop: CurlLoop
    private let thread: JoinableThread
    private let check: RequestCheck
    private let lastTicket = Atomic<UInt64>(0)

    /// - Throws: ``TransportFault`` with ``TransportFault/Reason/unavailable`` when libcurl or the CA bundle is missing or no
    ///   thread can be created.
    package init(_ configuration: TransportConfiguration = TransportConfiguration()) throws(TransportFault) {
        if let problem = CurlLibrary.problem { throw problem }
        let loop = try CurlLoop(configuration)
        self.loop = loop
        check = RequestCheck(allowsPlainHTTP: configuration.allowsPlainHTTP)
        guard let thread = JoinableThread(running: { loop.run() }) else {
            throw TransportFault(.unavailable, "The system cannot create a thread for HTTP.")
        }
        self.thread = thread
    }

    deinit { loop.stop() }

    /// Sends one request and waits for the whole response.
    ///
    /// Cancelling the task ends the exchange at once and closes its connection or stream.
    ///
    /// - Returns: The response, with any status.
    /// - Throws: ``TransportFault``, or `CancellationError`.
    package func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try check(request)
        let ticket = lastTicket.wrappingAdd(1, ordering: .relaxed).newValue
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                loop.enqueue(.start(ticket, request) { continuation.resume(with: $0) })
                // `onCancel` may have run before the line above, when there was no exchange to cancel.
                if Task.isCancelled { loop.enqueue(.cancel(ticket)) }
            }
        } onCancel: {
            loop.enqueue(.cancel(ticket))
        }
    }

    /// Sends one request, and blocks the calling thread until the whole response is there.
    ///
    /// For code that already blocks its thread. The transport's own thread ends the wait.
    ///
    /// - Returns: The response, with any status.
    /// - Throws: ``TransportFault``.
    package func sendAndWait(_ request: HTTPRequest) throws -> HTTPResponse {
        try check(request)
        let ticket = lastTicket.wrappingAdd(1, ordering: .relaxed).newValue
        let outcome = Outcome()
        loop.enqueue(.start(ticket, request) { outcome.end(with: $0) })
        return try outcome.wait()
    }

    /// Ends all exchanges, closes all connections, and returns when the thread has ended.
    ///
    /// Waiting callers get ``TransportFault/Reason/unavailable``. A second call does nothing.
    package func shutdown() {
        loop.stop()
        thread.join()
    }
}

/// The result of one exchange, for which a thread waits.
private final class Outcome: Sendable {
    private let result = Mutex<Result<HTTPResponse, any Error>?>(nil)
    private let ended = DispatchSemaphore(value: 0)

    func end(with result: Result<HTTPResponse, any Error>) {
        self.result.withLock { $0 = result }
        ended.signal()
    }

    func wait() throws -> HTTPResponse {
        ended.wait()
        guard let result = result.withLock({ $0 }) else { throw TransportFault.shutDown }
        return try result.get()
    }
}
