package import AppStoreModel
package import Basics
package import HTTPTransport
package import SignedData

/// Sends requests of Apple's App Store Server API, one at a time, each with a bearer token.
///
/// The client does not retry, wait or follow pages; the caller does. Every function throws
/// ``AppStoreModel/RequestFailure``, `CancellationError`, or ``SignedData/SigningError`` when no token can be made.
package final class AppStoreClient: Sendable {
    private let transport: CurlTransport
    private let baseURL: String
    private let tokens: TokenCache
    private let time: Timekeeper

    /// Makes a client; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - transport: Can be shared with other clients of the same host. The caller shuts it down.
    ///   - baseURL: Scheme, host and port, such as ``AppStoreModel/AppStoreEnvironment/baseURL``.
    ///   - tokens: The signer of bearer tokens; asked for again after Apple kept refusing a token. Each token is reused until it
    ///     expires or is replaced.
    ///   - time: The wall clock dates the tokens, the monotonic clock measures how long Apple refuses them.
    package init(
        transport: CurlTransport,
        baseURL: String,
        tokens: @escaping @Sendable () -> BearerTokenSigner,
        time: Timekeeper
    ) {
        self.transport = transport
        self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        self.tokens = TokenCache(signer: tokens)
        self.time = time
    }

    /// Requests one page.
    ///
    /// - Parameters:
    ///   - request: All pages of one item must be requested with the same filters.
    ///   - departure: When the request may be sent, and on which connection.
    ///   - decode: Reads the body of a 200 answer.
    /// - Returns: The page, with the server's `Date`.
    /// - Throws: ``AppStoreModel/RequestFailure``, `CancellationError`, ``SignedData/SigningError`` when no token can be made.
    package func page(
        _ request: AppStoreRequest,
        departing departure: HTTPRequest.Departure = .init(),
        decode: ([UInt8]) throws(RequestFailure) -> Page
    ) async throws -> Page {
        let response = try await send(request, departure)
        guard response.http.status == 200 else { throw RequestFailure.answered(response.answer) }
        var page = try decode(response.http.body)
        page.date = response.http.headers.values(of: "Date").first
        return page
    }

    /// Sends a request that changes something, and returns the answer with any status.
    ///
    /// - Parameters:
    ///   - request: Sent once; a lost answer does not lead to a second request.
    ///   - departure: When the request may be sent, and on which connection.
    /// - Throws: ``WriteFailure``, `CancellationError`, ``SignedData/SigningError`` when no token can be made.
    package func write(
        _ request: AppStoreRequest,
        departing departure: HTTPRequest.Departure = .init()
    ) async throws -> WriteAnswer {
        do {
            let response = try await exchange(request, departure)
            return WriteAnswer(answer: response.answer, body: response.http.body)
        } catch let fault as TransportFault {
            throw WriteFailure(fault)
        }
    }

    private func send(_ call: AppStoreRequest, _ departure: HTTPRequest.Departure) async throws -> Response {
        do {
            return try await exchange(call, departure)
        } catch let fault as TransportFault {
            throw RequestFailure(fault)
        }
    }

    private struct Response {
        let http: HTTPResponse
        let refusals: TokenRefusals?

        var answer: HTTPAnswer {
            var answer = HTTPAnswer(http)
            if let refusals { answer.refusals = refusals }
            return answer
        }
    }

    private func exchange(_ call: AppStoreRequest, _ departure: HTTPRequest.Departure) async throws -> Response {
        let token = try tokens.token(at: UnixMilliseconds(rawValue: time.wallClock()))
        var request =
            switch call.method {
            case .get: HTTPRequest(.get, baseURL + call.target)
            case .post: HTTPRequest(.post, baseURL + call.target, body: call.body ?? [])
            case .put: HTTPRequest(.put, baseURL + call.target, body: call.body ?? [])
            case .delete: HTTPRequest(.delete, baseURL + call.target)
            }
        if call.body != nil { request.headers = [HTTPHeader("Content-Type", "application/json")] }
        request.departure = departure
        request.headers += [
            HTTPHeader("Authorization", "Bearer " + token.text.reveal()), HTTPHeader("Accept", "application/json"),
        ]
        let response = try await transport.send(request)
        guard response.status == 401 else {
            tokens.noteAnswer(isSuccess: (200..<300).contains(response.status))
            return Response(http: response, refusals: nil)
        }
        return Response(http: response, refusals: tokens.noteRefusal(of: token, at: time.monotonic()))
    }
}
