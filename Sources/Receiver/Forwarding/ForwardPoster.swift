import AppStoreModel
import HTTPTransport
import JobFiles
import RateLimit

/// Posts notifications to further servers, each once for each call.
struct ForwardPoster: Sendable {
    /// For the whole exchange; shorter than ``Inbox/ForwardQueue/lease``, also with a second connection.
    private static let timeout = Duration.seconds(10)
    private static let connectTimeout = Duration.seconds(5)

    private let transport: CurlTransport
    private let now: @Sendable () -> UnixMilliseconds

    /// - Parameters:
    ///   - urls: All URLs to which it will post.
    ///   - connections: The most connections.
    ///   - now: This machine's clock.
    /// - Throws: ``HTTPTransport/TransportFault`` if libcurl cannot work.
    init(
        for urls: [WebhookURL],
        connections: Int,
        now: @escaping @Sendable () -> UnixMilliseconds
    ) throws(TransportFault) {
        self.now = now
        var configuration = TransportConfiguration()
        configuration.connectTimeout = Self.connectTimeout
        configuration.totalTimeout = Self.timeout
        configuration.allowsPlainHTTP = urls.contains(where: \.isLoopback)
        configuration.maximumConnections = connections
        transport = try CurlTransport(configuration)
    }

    /// Posts the body of a notification as it is.
    func post(_ body: [UInt8], to url: WebhookURL) async -> ForwardOutcome {
        var request = HTTPRequest(
            .post,
            url.reveal(),
            headers: [HTTPHeader("Content-Type", "application/json")],
            body: body
        )
        do {
            do {
                return outcome(of: try await transport.send(request))
            } catch let fault as TransportFault where fault.reason == .keptConnectionLost {
                request.departure.onNewConnection = true
                return outcome(of: try await transport.send(request))
            }
        } catch let fault as TransportFault {
            // The fault's detail can name the host with the query.
            return .unavailable("no answer (\(fault.reason.rawValue))")
        } catch {
            return .unavailable("stopped")
        }
    }

    private func outcome(of response: HTTPResponse) -> ForwardOutcome {
        Self.outcome(of: response.status, retryAfter: response.headers.values(of: "Retry-After"), now: now())
    }

    /// The statuses from 400 on with which the server refuses every notification, or none for long.
    private static let ofServer: Set = [401, 403, 404, 405, 408, 410, 425, 429]

    /// What an answer means.
    ///
    /// A redirect is not followed, because it could lead customers' data to any server.
    ///
    /// - Parameter retryAfter: The `Retry-After` headers; without a readable one the server asks for no wait.
    static func outcome(
        of status: Int,
        retryAfter: [String] = [],
        now: UnixMilliseconds = UnixMilliseconds(rawValue: 0)
    ) -> ForwardOutcome {
        switch status {
        case 200...299: return .delivered
        case 300...399: return .unavailable("HTTP status \(status): redirects are not followed")
        case 400...499 where !ofServer.contains(status): return .refused("HTTP status \(status)")
        default:
            let asked = RetryAfter(retryAfter, now: now, consecutive: 1)
            return .unavailable("HTTP status \(status)", wait: asked.oddity == .unreadable ? .zero : asked.wait)
        }
    }

    func shutdown() { transport.shutdown() }
}
