import AppStoreModel
import HTTPTypes
import Hummingbird

/// Answers a request of Apple's API: checks the token, then the rate limit, then the fault rules, then asks the route.
///
/// Every request is recorded in the arrival log, with the status of its answer.
struct RequestHandler: Sendable {
    let world: ServedWorld
    let cursors: CursorCodec
    let tokens: VerifiedTokens
    let limits: RateLimits
    let faults: FaultRules
    let responses: ResponseBuilder
    let log: ArrivalLog
    let now: @Sendable () -> UnixMilliseconds

    func respond(to request: RouteRequest, context: ConnectionContext) async throws -> Response {
        let arrival = now()
        let token = request.authorization.map { tokens.check($0, at: arrival) }
        // What the log shows when the connection is dropped without an answer.
        var status = 0
        defer {
            log.record(
                ArrivalLog.Arrival(
                    at: arrival,
                    endpoint: request.route.name,
                    status: status,
                    transactionId: request.transactionId,
                    orderId: request.orderId,
                    token: token?.fingerprint
                )
            )
        }
        guard let accepted = token, accepted.isAccepted else {
            status = 401
            return Response(status: .unauthorized)
        }
        let response = try await answer(request, token: accepted.fingerprint, at: arrival, context: context)
        status = response?.status.code ?? 0
        return response ?? Response(status: .internalServerError)
    }

    /// Returns `nil` when a fault dropped the connection.
    private func answer(
        _ request: RouteRequest,
        token: String,
        at arrival: UnixMilliseconds,
        context: ConnectionContext
    ) async throws -> Response? {
        if let retryAfter = limits.reserve(request.route.name, at: arrival) {
            return .tooManyRequests([String(retryAfter.rawValue)])
        }
        let rule = faults.next(for: request, token: token, at: arrival)
        if let rule, let replacement = try await responses.replacement(under: rule, context: context) {
            return replacement.response
        }
        let answerContext = AnswerContext(
            world: world,
            cursors: cursors,
            now: now(),
            tokenLifetime: faults.tokenLifetime,
            repeatRefusal: rule?.repeatRefusal
        )
        let answer = Result { () throws(APIError) in try request.route.answer(request, answerContext) }
        if let rule, let replacement = await responses.replacementAfterwards(under: rule, context: context) {
            return replacement.response
        }
        do throws(APIError) {
            return try await responses.response(with: try answer.get(), under: rule, context: context)
        } catch {
            return .json(error.json, status: error.status)
        }
    }
}

extension FaultRule {
    /// The error for a repeated request under the fault `refuseRepeat`.
    fileprivate var repeatRefusal: APIError? {
        guard fault == .refuseRepeat else { return nil }
        return errorCode.map { APIError($0, errorMessage ?? "Scripted error.") } ?? .maximumExtensions
    }
}

extension Response {
    /// - `retryAfter`: The raw values of the `Retry-After` headers; Apple sends one, in UNIX milliseconds.
    static func tooManyRequests(_ retryAfter: [String]) -> Response {
        var response = Response.json(APIError.rateLimited.json, status: 429)
        if let name = HTTPField.Name("Retry-After") {
            for value in retryAfter { response.headers.append(HTTPField(name: name, value: value)) }
        }
        return response
    }
}
