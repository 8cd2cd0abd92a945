/// Why a request brought no response back.
///
/// Neither the request's headers nor its body are ever part of it, so it may be logged.
package struct TransportFault: Error, Equatable, Sendable {
    package enum Reason: String, CaseIterable, Sendable {
        /// The host's name has no address.
        case resolve
        /// Nobody accepts connections there.
        case connect
        /// The server's certificate or TLS version is not acceptable; trying again will not help.
        case tls
        /// The connection or the whole exchange took longer than allowed.
        case timedOut
        /// Bytes came, but fewer each second than allowed.
        case tooSlow
        /// The body is larger than allowed, counted after decompression.
        case bodyTooLarge
        /// The header section is larger, or has more fields, than allowed.
        case headersTooLarge
        /// The connection ended before the response did.
        case connectionLost
        /// A connection kept from an earlier request ended before a word of the answer came, as kept ones do: asked
        /// again, the request goes out on a new one. It may have been sent.
        case keptConnectionLost
        /// What came back is not HTTP as we can trust it.
        case protocolError
        /// The request was not sent: its time had passed before there was a connection to send it on.
        case tooLate
        /// The request was not sent: its URL or a header is not acceptable.
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
