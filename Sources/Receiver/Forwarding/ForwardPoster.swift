import HTTPTransport
import JobFiles

/// Posts notifications to further servers, each once for each call.
struct ForwardPoster: Sendable {
    /// For the whole exchange; shorter than ``Inbox/ForwardQueue/lease``, also with a second connection.
    private static let timeout = Duration.seconds(10)
    private static let connectTimeout = Duration.seconds(5)

    private let transport: CurlTransport

    /// - Parameters:
    ///   - urls: All URLs to which it will post.
    ///   - connections: The most connections.
    /// - Throws: ``HTTPTransport/TransportFault`` if libcurl cannot work.
    init(for urls: [WebhookURL], connections: Int) throws(TransportFault) {
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
                return Self.outcome(of: try await transport.send(request).status)
            } catch let fault as TransportFault where fault.reason == .keptConnectionLost {
                request.departure.onNewConnection = true
                return Self.outcome(of: try await transport.send(request).status)
            }
        } catch let fault as TransportFault {
            // The fault's detail can name the host with the query.
            return .unavailable("no answer (\(fault.reason.rawValue))")
        } catch {
            return .unavailable("stopped")
        }
    }

    /// The statuses from 400 on with which the server refuses every notification, or none for long.
    private static let ofServer: Set = [401, 403, 404, 405, 408, 410, 425, 429]

    /// What a status means.
    ///
    /// A redirect is not followed, because it could lead customers' data to any server.
    static func outcome(of status: Int) -> ForwardOutcome {
        switch status {
        case 200...299: .delivered
        case 300...399: .unavailable("HTTP status \(status): redirects are not followed")
        case 400...499 where !ofServer.contains(status): .refused("HTTP status \(status)")
        default: .unavailable("HTTP status \(status)")
        }
    }

    func shutdown() { transport.shutdown() }
}
