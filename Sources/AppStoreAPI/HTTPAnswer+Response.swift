package import AppStoreModel
package import HTTPTransport

extension HTTPAnswer {
    /// Reads the status, error and headers of an answer.
    package init(_ response: HTTPResponse) {
        let payload = response.status == 200 ? nil : ErrorPayload.decode(response.body)
        // Apple's message, or the beginning of the body when a proxy answered.
        let words =
            payload?.message
            ?? (response.status == 200 ? "" : String(decoding: response.body.prefix(4_096), as: UTF8.self))
        self.init(
            status: response.status,
            errorCode: payload?.code,
            message: sanitized(words),
            retryAfter: response.headers.values(of: "Retry-After"),
            date: response.headers.values(of: "Date").first
        )
    }
}

extension RequestFailure {
    init(_ fault: TransportFault) {
        self =
            switch fault.reason {
            case .tls: .tls(detail: fault.description)
            case .tooLate: .tooLate
            case .keptConnectionLost: .keptConnectionLost(detail: fault.description)
            default: .transport(detail: fault.description)
            }
    }
}
