/// Why one request to Apple gave no page.
package enum RequestFailure: Error, Equatable, Sendable {
    /// No HTTP answer: resolving, connecting, TLS, time-out, cut connection.
    case transport(detail: String)
    /// The kept connection that the request went out on ended before a word of the answer came.
    case keptConnectionLost(detail: String)
    /// Nothing was sent: the permit's time had passed before there was a connection.
    case tooLate
    /// The server's TLS certificate or version is not acceptable; trying again will not help.
    case tls(detail: String)
    /// An HTTP answer other than 200, with Apple's code and message where the body had them.
    case answered(HTTPAnswer)
    /// HTTP 200 whose body is not the page the documentation promises.
    case badPage(reason: String)
}

/// What a non-200 answer said.
package struct HTTPAnswer: Equatable, Sendable {
    package let status: Int
    /// Apple's `errorCode`, `nil` where the body was not Apple's JSON.
    package let errorCode: Int64?
    /// Apple's `errorMessage` or the beginning of a foreign body: at most 512 characters, control characters escaped.
    package let message: String
    /// Raw values of every `Retry-After` header, unparsed.
    package let retryAfter: [String]
    /// Raw value of the `Date` header.
    package let date: String?

    package init(status: Int, errorCode: Int64?, message: String, retryAfter: [String] = [], date: String? = nil) {
        self.status = status
        self.errorCode = errorCode
        self.message = message
        self.retryAfter = retryAfter
        self.date = date
    }
}
