package import AppStoreModel

/// Why a request failed, or why the run must end, as it is shown and stored.
package struct FailureReport: Error, Equatable, Sendable, CustomStringConvertible {
    /// The HTTP status of the answer; `nil` without an answer.
    package let status: Int?
    /// Apple's `errorCode`; `nil` if the answer has none.
    package let code: Int64?
    package let message: String
    /// Whether Apple refused the request with a code that is not listed for the stream, or with a 400 or 403 without a code.
    ///
    /// False for a code of a stream whose errors Apple does not number.
    package internal(set) var isUnknownCode = false
    /// What to do, if more is known of the cause than the general remedy says.
    package var remedy: String?

    package init(status: Int? = nil, code: Int64? = nil, message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    /// The description with one full stop at its end; Apple's message may have its own.
    package var sentence: String {
        description.hasSuffix(".") ? description : description + "."
    }

    package var description: String {
        switch (status, code) {
        case (nil, _): message
        case (let status?, nil): "HTTP \(status): \(message)"
        case (let status?, let code?): "HTTP \(status), Apple's code \(code): \(message)"
        }
    }
}

extension RequestFailure {
    /// The failure as it is shown and stored.
    package var report: FailureReport {
        switch self {
        case .transport(let detail), .keptConnectionLost(let detail): FailureReport(message: "No answer: \(detail)")
        case .tooLate: FailureReport(message: "Not sent: the permit had expired")
        case .tls(let detail): FailureReport(message: "The server cannot be trusted: \(detail)")
        case .badPage(let reason): FailureReport(status: 200, message: "The body is not a page: \(reason)")
        case .answered(let answer):
            answer.report
        }
    }
}

extension HTTPAnswer {
    /// The answer as it is shown and stored; Apple's 401 usually has no body.
    package var report: FailureReport {
        let isSilent = status == 401 && message.isEmpty
        return FailureReport(
            status: status,
            code: errorCode,
            message: isSilent ? "Apple refuses the bearer token" : message
        )
    }
}
