package import AppStoreModel
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
    private let now: @Sendable () -> UnixMilliseconds

    /// Makes a client; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - transport: Can be shared with other clients of the same host. The caller shuts it down.
    ///   - baseURL: Scheme, host and port, such as ``AppStoreModel/AppStoreEnvironment/baseURL``.
    ///   - tokens: The signer of bearer tokens; asked for again after a token was refused. Each token is reused until it expires or
    ///     is refused.
    ///   - now: The clock that dates the tokens.
    package init(
        transport: CurlTransport,
        baseURL: String,
        tokens: @escaping @Sendable () -> BearerTokenSigner,
        clock now: @escaping @Sendable () -> UnixMilliseconds
    ) {
        self.transport = transport
        self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        self.tokens = TokenCache(signer: tokens)
        self.now = now
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
        guard response.status == 200 else { throw RequestFailure.answered(HTTPAnswer(response)) }
        var page = try decode(response.body)
        page.date = response.headers.values(of: "Date").first
        return page
    }

    /// Sends a request that changes something, and returns the answer with any status.
    ///
    /// - Parameters:
    ///   - request: Sent once; a lost answer does not lead to a second request.
    ///   - departure: When the request may be sent, and on which connection.
    /// - Returns: The answer.
    /// - Throws: ``WriteFailure``, `CancellationError`, ``SignedData/SigningError`` when no token can be made.
    package func write(
        _ request: AppStoreRequest,
        departing departure: HTTPRequest.Departure = .init()
    ) async throws -> WriteAnswer {
        do {
            let response = try await exchange(request, departure)
            return WriteAnswer(answer: HTTPAnswer(response), body: response.body)
        } catch let fault as TransportFault {
            throw WriteFailure(fault)
        }
    }

    /// Replaces the token if Apple has refused it.
    ///
    /// Does nothing if the current token was not refused, so many workers that get 401 at once cause only one new
    /// token.
    package func renewToken() {
        tokens.replaceRefused()
    }

    private func send(_ call: AppStoreRequest, _ departure: HTTPRequest.Departure) async throws -> HTTPResponse {
        do {
            return try await exchange(call, departure)
        } catch let fault as TransportFault {
            throw RequestFailure(fault)
        }
    }

    private func exchange(_ call: AppStoreRequest, _ departure: HTTPRequest.Departure) async throws -> HTTPResponse {
        let token = try tokens.token(at: now())
        var request =
            switch call.method {
            case .get: HTTPRequest(.get, baseURL + call.target)
            case .post: HTTPRequest(.post, baseURL + call.target, body: call.body ?? [])
            case .put: HTTPRequest(.put, baseURL + call.target, body: call.body ?? [])
            }
        if call.body != nil { request.headers = [HTTPHeader("Content-Type", "application/json")] }
        request.departure = departure
        request.headers += [
            HTTPHeader("Authorization", "Bearer " + token.text.reveal()), HTTPHeader("Accept", "application/json"),
        ]
        let response = try await transport.send(request)
        if response.status == 401 { tokens.noteRefusal(of: token) }
        return response
    }
}
