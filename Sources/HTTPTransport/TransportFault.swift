/// Why a request got no response.
///
/// It never contains the request's headers or body, so it can be logged.
package struct TransportFault: Error, Equatable, Sendable {
    package enum Reason: String, CaseIterable, Sendable {
        /// The host name cannot be resolved.
        case resolve
        /// The server does not accept connections.
        case connect
        /// The server's certificate or TLS version is not acceptable; retrying does not help.
        case tls
        /// The connection or the whole exchange took longer than allowed.
        case timedOut
        /// Fewer bytes per second arrived than required.
        case tooSlow
        /// The body is larger than allowed, counted after decompression.
        case bodyTooLarge
        /// The header section is larger, or has more fields, than allowed.
        case headersTooLarge
        /// The connection ended before the response did.
        case connectionLost
        /// A connection reused from an earlier request ended before the response began. Servers may close idle
        /// connections at any time, so the caller repeats the request on a new one. The request may have been sent.
        case keptConnectionLost
        /// The response is not valid HTTP.
        case protocolError
        /// The request was not sent: its latest time passed before there was a connection.
        case tooLate
        /// The request was not sent: its URL or a header is invalid.
        case invalidRequest
        /// The transport itself cannot work: libcurl is too old, no CA bundle, or shut down.
        case unavailable
    }

    package let reason: Reason
    /// One sentence in printable ASCII.
    package let detail: String

    package init(_ reason: Reason, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }
}

extension TransportFault: CustomStringConvertible {
    package var description: String { "\(reason): \(detail)" }
}
