import AppStoreModel

/// One endpoint of Apple's API: how a request for it looks, how often it is allowed, and what it answers.
///
/// A route is one file in this folder and one line in ``all``. Everything else reads the registry: the responder, the rate
/// limits, the fault rules, `GET /simulator/requests` and the help text.
struct Route: Sendable {
    enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case delete = "DELETE"
    }

    /// Answers a request that has a valid token, is within the limit and is not replaced by a fault.
    typealias Handler = @Sendable (RouteRequest, AnswerContext) throws(APIError) -> SimulatedAnswer

    /// Changes the world as a request asks, and answers it.
    ///
    /// When it throws, it has changed nothing. The same request applied to the same world gives the same result, because a
    /// restarted simulator applies all requests once more.
    typealias Action = @Sendable (ActionRequest, inout World) throws(APIError) -> ActionResult

    let name: EndpointName
    let method: Method
    let path: PathPattern
    /// Apple's limit for one app in production; the sandbox allows a tenth.
    ///
    /// Source: "Identifying rate limits", App Store Server API, read 2026-11.
    let requestsPerSecond: Double
    /// Whether the sandbox has the endpoint.
    let isInSandbox: Bool
    /// In bytes; a longer body is answered with ``APIError/badRequest``.
    let maximumBodyLength: Int
    /// Whether production has the endpoint.
    let isInProduction: Bool
    let answer: Handler
    /// `nil` for a route that only reads.
    let action: Action?

    init(
        _ name: String,
        _ method: Method,
        _ path: String,
        requestsPerSecond: Double,
        isInSandbox: Bool = true,
        isInProduction: Bool = true,
        answer: @escaping Handler
    ) {
        self.name = EndpointName(text: name)
        self.method = method
        self.path = PathPattern(path)
        self.requestsPerSecond = requestsPerSecond
        self.isInSandbox = isInSandbox
        maximumBodyLength = Self.usualBodyLength
        self.isInProduction = isInProduction
        self.answer = answer
        action = nil
    }

    /// In bytes.
    static let usualBodyLength = 64 * 1_024

    /// A route that changes the world.
    ///
    /// - `body`: What the journal has of the request's query and body: UTF-8, because the journal is text.
    init(
        _ name: String,
        _ method: Method,
        _ path: String,
        requestsPerSecond: Double,
        isInProduction: Bool = true,
        maximumBodyLength: Int = Self.usualBodyLength,
        body: @escaping @Sendable (RouteRequest) throws(APIError) -> [UInt8] = { request throws(APIError) in
            request.body
        },
        action: @escaping Action
    ) {
        self.name = EndpointName(text: name)
        self.method = method
        self.path = PathPattern(path)
        self.requestsPerSecond = requestsPerSecond
        isInSandbox = true
        self.maximumBodyLength = maximumBodyLength
        self.isInProduction = isInProduction
        self.action = action
        answer = { request, context throws(APIError) in
            try context.world.perform(
                action,
                for: ActionRequest(
                    endpoint: request.route.name,
                    parameters: request.parameters,
                    body: try body(request),
                    date: context.now.rawValue
                ),
                repeatRefusal: context.repeatRefusal
            )
        }
    }
}

/// The name of an endpoint in fault rules and in `GET /simulator/requests`, such as `refundHistory`.
struct EndpointName: Hashable, Sendable {
    let text: String
}
