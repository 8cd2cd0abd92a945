import AppStoreModel
import HTTPTransport
import ServiceLifecycle
import SignedData

/// Posts notifications to the app's server, as Apple does.
///
/// A status from 200 to 206 is a success. Anything else is tried again after the pauses of ``RetrySchedule``.
struct NotificationPoster: Service {
    let settings: DeliverySettings
    let app: SimulatedApp
    let issuer: JWSIssuer
    let log: DeliveryLog
    let now: @Sendable () -> UnixMilliseconds

    /// The pause when no attempt is due.
    private static let interval = Duration.milliseconds(20)
    /// How long the server has to answer.
    ///
    /// Apple documents no limit. Its engineers advise to answer within a second.
    private static let answerTimeout = Duration.seconds(5)

    /// Posts until the simulator is stopped.
    func run() async throws {
        var configuration = TransportConfiguration()
        configuration.connectTimeout = Self.answerTimeout
        configuration.totalTimeout = Self.answerTimeout
        configuration.maximumConnections = settings.concurrency
        configuration.allowsPlainHTTP = true
        configuration.userAgent = "App-Store-Simulator"
        let transport = try CurlTransport(configuration)
        defer { transport.shutdown() }
        try await cancelWhenGracefulShutdown {
            do {
                try await withThrowingTaskGroup { group in
                    for _ in 0..<settings.concurrency { group.addTask { try await work(over: transport) } }
                    try await group.waitForAll()
                }
            } catch is CancellationError {
                // The simulator stops. Attempts that were not finished are made after the next start.
            }
        }
    }

    /// Makes the attempts that are due, one after the other.
    private func work(over transport: CurlTransport) async throws {
        while true {
            try Task.checkCancellation()
            if let delivery = log.takeNext(at: now().rawValue) {
                try await attempt(delivery, over: transport)
            } else {
                try await Task.sleep(for: Self.interval)
            }
        }
    }

    /// Makes one attempt and records its result.
    private func attempt(_ delivery: Delivery, over transport: CurlTransport) async throws {
        let uuid = delivery.notification.uuid
        let date = now().rawValue
        let scripted = delivery.fault?.result(ofAttempt: delivery.attempts.count + 1)
        var result = scripted ?? SendAttempt.success
        if delivery.fault?.fault != .drop || scripted == nil {
            let body = try body(of: delivery)
            log.keep(body, of: uuid)
            let answer = try await post(body, over: transport)
            result = scripted ?? answer
            if answer == SendAttempt.success { log.countAnswer(of: uuid) }
            if result == SendAttempt.success, delivery.fault?.fault == .duplicate {
                if try await post(body, over: transport) == SendAttempt.success { log.countAnswer(of: uuid) }
            }
        }
        try log.record(SendAttempt(date: date, result: result), of: uuid)
    }

    private func body(of delivery: Delivery) throws -> [UInt8] {
        if let body = delivery.body { return body }
        switch (settings.version, delivery.notification.versionOneType) {
        case (.one, let type?):
            return delivery.notification.versionOneBody(type, in: app, sharedSecret: settings.sharedSecret)
        case (.one, nil), (.two, _):
            let record = AnswerRecord.notification(delivery.notification, in: app)
            let signed = try issuer.sign(payload: record.payload(app.bundleId, issuer.sign(payload:)))
            return jsonObject { $0.member("signedPayload", signed) }
        }
    }

    /// Posts a body and returns the result in Apple's words.
    ///
    /// - Throws: `CancellationError`.
    private func post(_ body: [UInt8], over transport: CurlTransport) async throws -> String {
        var request = HTTPRequest(
            .post,
            settings.url,
            headers: [HTTPHeader("Content-Type", "application/json")],
            body: body
        )
        do {
            do {
                return SendAttempt.result(ofStatus: try await transport.send(request).status)
            } catch let fault as TransportFault where fault.reason == .keptConnectionLost {
                request.departure.onNewConnection = true
                return SendAttempt.result(ofStatus: try await transport.send(request).status)
            }
        } catch let fault as TransportFault {
            try Task.checkCancellation()
            return SendAttempt.result(of: fault.reason)
        }
    }
}

extension SendAttempt {
    fileprivate static func result(ofStatus status: Int) -> String {
        (200...206).contains(status) ? success : "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
    }

    /// Source: `sendAttemptResult`, read 2026-11.
    fileprivate static func result(of reason: TransportFault.Reason) -> String {
        switch reason {
        case .timedOut, .tooSlow: "TIMED_OUT"
        case .tls: "TLS_ISSUE"
        case .connect: "SOCKET_ISSUE"
        case .connectionLost, .keptConnectionLost: "NO_RESPONSE"
        case .protocolError, .bodyTooLarge, .headersTooLarge: "INVALID_RESPONSE"
        case .resolve, .tooLate, .invalidRequest, .unavailable: "OTHER"
        }
    }
}
