import AppStoreModel
import HTTPTypes
import Hummingbird

/// Who comes to which endpoint, with what in hand.
struct Visit: Sendable {
    let endpoint: AppStoreModel.Stream
    let transactionId: String?
    let authorization: String?
}

/// What every request goes through, in this order: token, limit, fault, answer; and each is noted.
struct StoreCounter: Sendable {
    let histories: Histories
    let tokens: KnownTokens
    let limits: RateLimits
    let faults: FaultBook
    let culprit: FaultyAnswers
    let log: ArrivalLog
    let now: @Sendable () -> UnixMilliseconds

    typealias Work = (Histories, UnixMilliseconds, Duration?) throws(APIError) -> HistoryPage

    /// Answers one request of Apple's API.
    ///
    /// - `work`: Makes the page, given the moment of the answer and how long a pagination token lives.
    func serve(_ visit: Visit, context: StoreContext, _ work: Work) async throws -> Response {
        let arrival = now()
        let token = visit.authorization.map { tokens.judge($0, at: arrival) }
        var status = 0
        defer {
            log.note(
                ArrivalLog.Arrival(
                    at: arrival,
                    endpoint: visit.endpoint,
                    status: status,
                    transactionId: visit.transactionId,
                    token: token?.fingerprint
                )
            )
        }
        guard token?.isAccepted == true else {
            status = 401
            return Response(status: .unauthorized)
        }
        let response = try await answer(visit, at: arrival, context: context, work)
        status = response?.status.code ?? 0
        return response ?? Response(status: .internalServerError)
    }

    /// `nil` when the connection is gone.
    private func answer(
        _ visit: Visit,
        at arrival: UnixMilliseconds,
        context: StoreContext,
        _ work: Work
    ) async throws -> Response? {
        if let retry = limits.admit(visit.endpoint, at: arrival) { return .tooManyRequests([String(retry.rawValue)]) }
        let fault = faults.strike(visit.endpoint, transactionId: visit.transactionId)
        if let fault, let answer = try await culprit.answer(instead: fault, context: context) {
            return answer.response
        }
        do throws(APIError) {
            let page = try work(histories, now(), faults.tokenLifetime)
            return try await culprit.answer(with: page, under: fault, context: context)
        } catch {
            return .json(error.json, status: error.status)
        }
    }
}

extension Response {
    /// - `retryAfter`: The raw values of the `Retry-After` headers; Apple sends one, UNIX milliseconds.
    static func tooManyRequests(_ retryAfter: [String]) -> Response {
        var response = Response.json(APIError.rateLimited.json, status: 429)
        if let name = HTTPField.Name("Retry-After") {
            for value in retryAfter { response.headers.append(HTTPField(name: name, value: value)) }
        }
        return response
    }
}
