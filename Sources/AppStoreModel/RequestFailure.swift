/// Why one request to Apple returned no page.
package enum RequestFailure: Error, Equatable, Sendable {
    /// No HTTP answer: DNS, connection, timeout, or a closed connection.
    case transport(detail: String)
    /// The reused connection was closed before any part of the answer arrived.
    case keptConnectionLost(detail: String)
    /// Nothing was sent, because the permit expired before there was a connection.
    case tooLate
    /// The server's TLS certificate or version is not acceptable; a retry does not help.
    case tls(detail: String)
    /// An HTTP answer other than 200, with Apple's code and message if the body has them.
    case answered(HTTPAnswer)
    /// HTTP 200 with a body that is not as documented.
    case badPage(reason: String)
}

/// The status, error and headers of an answer.
package struct HTTPAnswer: Equatable, Sendable {
    package let status: Int
    /// Apple's `errorCode`; `nil` if the body is not Apple's JSON.
    package let errorCode: Int64?
    /// Apple's `errorMessage` or the beginning of another body: at most 512 characters, with escaped control
    /// characters.
    package let message: String
    /// Raw values of every `Retry-After` header, unparsed.
    package let retryAfter: [String]
    /// Raw value of the `Date` header.
    package let date: String?
    /// What Apple's answers before this one say of the key; only for a 401.
    package var refusals = TokenRefusals()

    package init(status: Int, errorCode: Int64?, message: String, retryAfter: [String] = [], date: String? = nil) {
        self.status = status
        self.errorCode = errorCode
        self.message = message
        self.retryAfter = retryAfter
        self.date = date
    }
}

/// A series of answers with 401 to the requests of one client.
package struct TokenRefusals: Equatable, Sendable {
    /// The most that the time between two requests adds to ``duration``.
    ///
    /// A client that waits for its hourly limit between two requests has learned nothing in that time.
    package static let longestGap = Duration.seconds(15)

    /// For how long Apple has answered with nothing but 401; zero for the first.
    package let duration: Duration
    /// Whether Apple has accepted a token of this client before.
    package let keyWasAccepted: Bool

    package init(duration: Duration = .zero, keyWasAccepted: Bool = false) {
        self.duration = duration
        self.keyWasAccepted = keyWasAccepted
    }
}
