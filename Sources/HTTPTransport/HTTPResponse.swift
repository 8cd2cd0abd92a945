/// What came back: the final answer, whatever its status.
///
/// Redirects are answers too, never followed.
package struct HTTPResponse: Equatable, Sendable {
    package let status: Int
    /// In the order they came, repeated ones repeated.
    ///
    /// Interim (1xx) answers' fields and trailers are left out.
    package let headers: [HTTPHeader]
    /// Decoded where the server compressed it, and whole: a cut body is a ``TransportFault``.
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
