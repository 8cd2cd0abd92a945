import Basics
import HTTPTypes
import Hashing
import Hummingbird
import HummingbirdCore
import Ledger
import NIOCore

/// Answers a posted notification, `/health` and `/metrics`.
///
/// | Answer | When |
/// |---|---|
/// | 200 | the notification is durable, now or since an earlier receipt |
/// | 400 | the body is not a notification |
/// | 404, 405, 413, 415 | another path or method, a body of more than 1 MiB, another content type |
/// | 503 | a later attempt could succeed: the notification cannot be verified, the database does not answer, or too many requests are open |
struct NotificationResponder: HTTPResponder {
    let path: String
    let limits: ReceiverLimits
    let verifier: NotificationVerifier
    let commits: GroupCommit
    let quarantine: RefusedNotifications
    let metrics: ReceiverMetrics
    let ageOfOldestPending: @Sendable () async throws -> Duration?
    let time: Timekeeper
    let report: @Sendable (ReceiverEvent) -> Void
    /// Called after each commit that had a new notification.
    let stored: @Sendable () -> Void

    func respond(to request: Request, context: ReceiverContext) async throws -> Response {
        switch request.uri.path {
        case path:
            return try await post(request, context)
        case "/health":
            return try await page(request, context) { await health() }
        case "/metrics":
            return try await page(request, context) { await metricsPage() }
        default:
            return await respondEarly(.notFound, context)
        }
    }

    // MARK: Notifications

    private func post(_ request: Request, _ context: ReceiverContext) async throws -> Response {
        guard request.method == .post else {
            var response = await respondEarly(.methodNotAllowed, context)
            response.headers[.allow] = "POST"
            return response
        }
        let arrival = time.monotonic()
        guard metrics.beginRequest(atMost: limits.requests) else {
            return await refuse("busy", .serviceUnavailable, context)
        }
        defer { metrics.endRequest() }
        guard Self.isJSON(request) else { return await refuse("content_type", .unsupportedMediaType, context) }
        let body: [UInt8]
        do {
            if let length = request.headers[.contentLength].flatMap(Int.init), length > limits.bodyBytes {
                throw NIOTooManyBytesError(maxBytes: limits.bodyBytes)
            }
            body = Array(buffer: try await request.body.collect(upTo: limits.bodyBytes))
        } catch is NIOTooManyBytesError {
            return await refuse("too_large", .contentTooLarge, context)
        }
        context.endReading()
        return await answer(body, since: arrival)
    }

    private func answer(_ body: [UInt8], since arrival: Duration) async -> Response {
        do throws(NotificationBody.Unreadable) {
            var verdict = try verifier.verdict(on: body)
            if verdict.dependsOnClock, await readsClock() { verdict = try verifier.verdict(on: body) }
            switch verdict {
            case .accepted(let notification):
                return await store(notification, since: arrival)
            case .refused(let refused, let detail):
                metrics.refuse(refused.reason)
                report(.refused(reason: refused.reason, detail: detail))
                await quarantine.keep(refused)
                return Self.text(.serviceUnavailable, "The notification cannot be verified (\(refused.reason)).\n")
            }
        } catch {
            metrics.refuse("unreadable")
            return Self.text(.badRequest, error.sentence + "\n")
        }
    }

    /// Reads PostgreSQL's clock, which each transaction does; returns whether it could be read.
    private func readsClock() async -> Bool {
        do {
            _ = try await ageOfOldestPending()
            return true
        } catch {
            return false
        }
    }

    private func store(_ notification: ReceivedNotification, since arrival: Duration) async -> Response {
        do {
            let receipt = try await commits.store(notification)
            metrics.answer(receipt, after: time.monotonic() - arrival)
            switch receipt {
            case .new: stored()
            case .known: break
            case .conflict: await quarantine.keep(notification.asConflict)
            }
            return Response(status: .ok)
        } catch {
            metrics.refuse("database")
            report(.notStored(error))
            return Self.text(.serviceUnavailable, "The notification cannot be stored now.\n")
        }
    }

    /// Whether the body is JSON without compression.
    ///
    /// A missing content type counts as JSON, because Apple does not document whether its requests always have one.
    private static func isJSON(_ request: Request) -> Bool {
        let encoding = request.headers[.contentEncoding]?.lowercased() ?? "identity"
        guard encoding == "identity" else { return false }
        guard let type = request.headers[.contentType] else { return true }
        let essence = type.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
        return essence == "application/json"
    }

    private func refuse(
        _ reason: String,
        _ status: HTTPResponse.Status,
        _ context: ReceiverContext
    ) async -> Response {
        metrics.refuse(reason)
        return await respondEarly(status, context)
    }

    // MARK: Pages for the operator

    private func page(
        _ request: Request,
        _ context: ReceiverContext,
        _ body: () async -> Response
    ) async throws -> Response {
        guard request.method == .get || request.method == .head else {
            var response = await respondEarly(.methodNotAllowed, context)
            response.headers[.allow] = "GET, HEAD"
            return response
        }
        do { _ = try await request.body.collect(upTo: 1_024) } catch is NIOTooManyBytesError {
            return await respondEarly(.contentTooLarge, context)
        }
        context.endReading()
        let response = await body()
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func health() async -> Response {
        do {
            _ = try await ageOfOldestPending()
            return Self.text(.ok, "ok\n")
        } catch {
            return Self.text(.serviceUnavailable, "The database does not answer.\n")
        }
    }

    private func metricsPage() async -> Response {
        let page: String
        do {
            page = metrics.text(oldestPending: .some(try await ageOfOldestPending()))
        } catch {
            // While the database does not answer, the page has no age.
            page = metrics.text(oldestPending: nil)
        }
        var response = Self.text(.ok, page)
        response.headers[.contentType] = "text/plain; version=0.0.4; charset=utf-8"
        return response
    }

    // MARK: Answers

    /// Answers without reading the rest of the request.
    private func respondEarly(_ status: HTTPResponse.Status, _ context: ReceiverContext) async -> Response {
        await context.answerEarly()
        return Response(status: status, headers: [.connection: "close"])
    }

    private static func text(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Response(
            status: status,
            headers: [.contentType: "text/plain; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }
}

extension ReceivedNotification {
    /// This notification in the form in which the inbox keeps it when it contradicts another with the same UUID.
    fileprivate var asConflict: RefusedNotification {
        RefusedNotification(
            claim: ReceivedNotification(
                key: "refused-" + bodySHA256.hexadecimal,
                version: version,
                type: type,
                originalTransactionId: originalTransactionId,
                body: body,
                bodySHA256: bodySHA256
            ),
            reason: "conflict"
        )
    }
}
