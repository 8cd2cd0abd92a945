/// The final response, with any status.
///
/// A redirect is also a response and is never followed.
package struct HTTPResponse: Equatable, Sendable {
    package let status: Int
    /// In the order of arrival, including repeated fields.
    ///
    /// The fields of interim (1xx) responses and the trailers are left out.
    package let headers: [HTTPHeader]
    /// The whole body, decompressed; an incomplete body is a ``TransportFault``.
    package let body: [UInt8]
    /// `1.0`, `1.1`, `2` or `3`.
    package let httpVersion: String

    package init(status: Int, headers: [HTTPHeader], body: [UInt8], httpVersion: String) {
        self.status = status
        self.headers = headers
        self.body = body
        self.httpVersion = httpVersion
    }
}
