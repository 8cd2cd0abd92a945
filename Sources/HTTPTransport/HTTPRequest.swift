/// What is to be sent.
///
/// It goes out as it is written here: nothing is decoded, shortened or followed.
package struct HTTPRequest: Equatable, Sendable {
    /// When a request may go out, and on what.
    package struct Departure: Equatable, Sendable {
        /// The last moment; later it is ``TransportFault/Reason/tooLate``, and nobody saw it.
        package var by: ContinuousClock.Instant?
        /// Whether it must have a connection of its own making, as after ``TransportFault/Reason/keptConnectionLost``.
        package var onNewConnection: Bool

        package init(by latest: ContinuousClock.Instant? = nil, onNewConnection: Bool = false) {
            by = latest
            self.onNewConnection = onNewConnection
        }
    }

    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
    }

    package var method: Method
    /// Absolute and already percent-encoded; `https`, or `http` to loopback where the transport allows it.
    package var url: String
    /// Sent in this order.
    ///
    /// Neither names nor values may contain line breaks or NUL.
    package var headers: [HTTPHeader]
    /// `nil` for a GET; a POST without a body sends an empty one.
    package var body: [UInt8]?
    package var departure = Departure()

    package init(_ method: Method, _ url: String, headers: [HTTPHeader] = [], body: [UInt8]? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}
