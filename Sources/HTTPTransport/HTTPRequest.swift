/// A request.
///
/// It is sent exactly as given: no part is decoded or normalised, and no redirect is followed.
package struct HTTPRequest: Equatable, Sendable {
    /// Until when a request may be sent, and on which connection.
    package struct Departure: Equatable, Sendable {
        /// After this moment the request is not sent and fails with ``TransportFault/Reason/tooLate``.
        package var by: ContinuousClock.Instant?
        /// Whether it must not reuse a connection, as after ``TransportFault/Reason/keptConnectionLost``.
        package var onNewConnection: Bool

        package init(by latest: ContinuousClock.Instant? = nil, onNewConnection: Bool = false) {
            by = latest
            self.onNewConnection = onNewConnection
        }
    }

    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
    }

    package var method: Method
    /// Absolute and percent-encoded; `https`, or `http` to loopback if the transport allows it.
    package var url: String
    /// Sent in this order.
    ///
    /// Neither names nor values may contain line breaks or NUL.
    package var headers: [HTTPHeader]
    /// `nil` for a GET; a POST or PUT without a body sends an empty one.
    package var body: [UInt8]?
    package var departure = Departure()

    package init(_ method: Method, _ url: String, headers: [HTTPHeader] = [], body: [UInt8]? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}
