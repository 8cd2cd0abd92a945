import Synchronization

/// An HTTP client over libcurl: one thread moves every request's bytes, connections are kept and shared.
///
/// No redirects, cookies, proxies or netrc; TLS 1.2 or later, always verified. A request is sent once: nothing is tried
/// again here, because every request counts against the app's limit.
package final class CurlTransport: Sendable {
    private let loop: CurlLoop
    private let thread: JoinableThread
    private let check: RequestCheck
    private let lastTicket = Atomic<UInt64>(0)

    /// - Throws: ``TransportFault`` with ``TransportFault/Reason/unavailable`` where libcurl, the CA bundle or the
    ///   thread is missing.
    package init(_ configuration: TransportConfiguration = TransportConfiguration()) throws(TransportFault) {
        if let problem = CurlLibrary.problem { throw problem }
        let loop = try CurlLoop(configuration)
        self.loop = loop
        check = RequestCheck(allowsPlainHTTP: configuration.allowsPlainHTTP)
        guard let thread = JoinableThread(running: { loop.run() }) else {
            throw TransportFault(.unavailable, "The system gives no thread for HTTP.")
        }
        self.thread = thread
    }

    deinit { loop.stop() }

    /// Sends one request and waits for the whole response.
    ///
    /// Cancelling the task ends the exchange at once and closes its connection or stream.
    ///
    /// - Returns: The response, whatever its status.
    /// - Throws: ``TransportFault``, or `CancellationError`.
    package func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try check(request)
        let ticket = lastTicket.wrappingAdd(1, ordering: .relaxed).newValue
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                loop.enqueue(.start(ticket, request, continuation))
                // A cancellation that came before the line above found nothing to cancel.
                if Task.isCancelled { loop.enqueue(.cancel(ticket)) }
            }
        } onCancel: {
            loop.enqueue(.cancel(ticket))
        }
    }

    /// Ends every exchange, closes every connection, and returns when the thread is gone.
    ///
    /// Whoever still waits gets ``TransportFault/Reason/unavailable``. Calling it again does nothing.
    package func shutdown() {
        loop.stop()
        thread.join()
    }
}
