package import AppStoreModel
import HTTPTransport

/// The answer to a request that changes something.
package struct WriteAnswer: Equatable, Sendable {
    /// Status, Apple's error and headers.
    package let answer: HTTPAnswer
    package let body: [UInt8]

    package init(answer: HTTPAnswer, body: [UInt8]) {
        self.answer = answer
        self.body = body
    }
}

/// Why a request that changes something has no answer.
package enum WriteFailure: Error, Equatable, Sendable {
    /// The request did not leave this machine: no connection, or no TLS session, was made.
    case notSent(detail: String)
    /// The permit expired before there was a connection, so the request did not leave this machine.
    case tooLate
    /// The server's TLS certificate or version is not acceptable; nothing was sent, and a retry does not help.
    case tls(detail: String)
    /// The request may have been sent and applied: the answer is missing or incomplete.
    case lost(detail: String)

    init(_ fault: TransportFault) {
        self =
            switch fault.reason {
            case .resolve, .connect, .invalidRequest: .notSent(detail: fault.description)
            case .tooLate: .tooLate
            case .tls: .tls(detail: fault.description)
            // A time-out and a shutdown can come before or after the request was sent, so it counts as sent.
            case .timedOut, .tooSlow, .bodyTooLarge, .headersTooLarge, .connectionLost, .keptConnectionLost,
                .protocolError, .unavailable:
                .lost(detail: fault.description)
            }
    }
}
