import Basics
import HTTPTypes
import Hashing
import Hummingbird
import HummingbirdCore
import Inbox
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
    /// By the path to which their notifications are posted.
    let inboxes: [String: [AppInbox]]
    let limits: ReceiverLimits
    let metrics: ReceiverMetrics
    let time: Timekeeper
    let report: @Sendable (ReceiverEvent) -> Void

    func respond(to request: Request, context: ReceiverContext) async throws -> Response {
        if let inboxes = inboxes[request.uri.path] { return try await post(request, to: inboxes, context) }
        switch request.uri.path {
        case "/health":
            return try await page(request, context) { await health() }
        case "/metrics":
            return try await page(request, context) { await metricsPage() }
        default:
            return await respondEarly(.notFound, context)
        }
    }

    // MARK: Notifications

    private func post(
        _ request: Request,
        to inboxes: [AppInbox],
        _ context: ReceiverContext
    ) async throws -> Response {
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
        return await answer(body, in: inboxes, since: arrival)
    }

    private func answer(_ body: [UInt8], in inboxes: [AppInbox], since arrival: Duration) async -> Response {
        do throws(NotificationBody.Unreadable) {
            var (inbox, verdict) = try inboxes.verdict(on: body)
            if verdict.dependsOnClock, await readsClock(of: inbox) {
                (inbox, verdict) = try inboxes.verdict(on: body)
            }
            switch verdict {
            case .accepted(var notification, let customer):
                if inbox.app.forwards(notification) {
                    notification.forward = ReceivedNotification.Forward(customer: customer, body: body)
                }
                return await store(notification, in: inbox, since: arrival)
            case .refused(let refused, let detail):
                metrics.refuse(refused.reason)
                report(.refused(reason: refused.reason, detail: detail))
                await inbox.quarantine.keep(refused)
                return Self.text(.serviceUnavailable, "The notification cannot be verified (\(refused.reason)).\n")
            }
        } catch {
            metrics.refuse("unreadable")
            return Self.text(.badRequest, error.sentence + "\n")
        }
    }

    /// Reads PostgreSQL's clock, which each transaction does; returns whether it could be read.
    private func readsClock(of inbox: AppInbox) async -> Bool {
        do {
            _ = try await inbox.ageOfOldestPending()
            return true
        } catch {
            return false
        }
    }

    /// The age of each app's oldest pending notification, 0 if none is pending; by ``ReceivedApp/labels``.
    private func agesOfOldestPending() async throws -> [String: Duration] {
        var ages: [String: Duration] = [:]
        for inbox in inboxes.values.joined() {
            ages[inbox.app.labels] = try await inbox.ageOfOldestPending() ?? .zero
        }
        return ages
    }

    /// What is left to forward, by ``ReceivedApp/labels``.
    private func forwards() async throws -> [String: [ForwardCounts]] {
        var counts: [String: [ForwardCounts]] = [:]
        for inbox in inboxes.values.joined() where !inbox.app.destinations.isEmpty {
            counts[inbox.app.labels] = try await inbox.forwards()
        }
        return counts
    }

    private func store(
        _ notification: ReceivedNotification,
        in inbox: AppInbox,
        since arrival: Duration
    ) async -> Response {
        do {
            let receipt = try await inbox.commits.store(notification)
            metrics.answer(receipt, of: inbox.app.labels, after: time.monotonic() - arrival)
            switch receipt {
            case .new: inbox.stored()
            case .known: break
            case .conflict: await inbox.quarantine.keep(notification.asConflict)
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
            _ = try await agesOfOldestPending()
            return Self.text(.ok, "ok\n")
        } catch {
            return Self.text(.serviceUnavailable, "The database does not answer.\n")
        }
    }

    private func metricsPage() async -> Response {
        let page: String
        do {
            page = metrics.text(oldestPending: try await agesOfOldestPending(), forwards: try await forwards())
        } catch {
            // While the database does not answer, the page has nothing of the ledger.
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
