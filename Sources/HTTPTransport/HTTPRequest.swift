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
        case head = "HEAD"
        case post = "POST"
        case put = "PUT"
        case delete = "DELETE"
    }

    /// What libcurl signs the request with: AWS Signature Version 4 of Amazon S3.
    ///
    /// libcurl signs all ``headers``, the path and the query as they are written, so these must be in their canonical form.
    package struct Signature: Equatable, Sendable, CustomStringConvertible {
        package var region: String
        package var accessKey: String
        package var secretKey: String

        package init(region: String, accessKey: String, secretKey: String) {
            self.region = region
            self.accessKey = accessKey
            self.secretKey = secretKey
        }

        package var description: String { "<redacted>" }
    }

    package var method: Method
    /// Absolute and percent-encoded; `https`, or `http` to loopback if the transport allows it.
    package var url: String
    /// Sent in this order.
    ///
    /// Neither names nor values may contain line breaks or NUL.
    package var headers: [HTTPHeader]
    /// `nil` for a GET, HEAD or DELETE; a POST or PUT without a body sends an empty one.
    package var body: [UInt8]?
    package var departure = Departure()
    package var signature: Signature?

    package init(_ method: Method, _ url: String, headers: [HTTPHeader] = [], body: [UInt8]? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}
