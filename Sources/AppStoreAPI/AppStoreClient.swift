package import AppStoreModel
package import HTTPTransport
package import SignedData

/// Sends requests of Apple's App Store Server API, one at a time, each with a bearer token.
///
/// No retries, no waiting, no paging: who calls decides those. Each may be told when its request may go out, and on
/// what. Every function throws ``AppStoreModel/RequestFailure``, `CancellationError`, or ``SignedData/SigningError`` when no token can be made.
package final class AppStoreClient: Sendable {
    private let transport: CurlTransport
    private let baseURL: String
    private let tokens: TokenKeeper
    private let now: @Sendable () -> UnixMilliseconds

    /// Makes a client; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - transport: Shared with whoever else talks to the same host; shut down by whoever made it.
    ///   - baseURL: Scheme, host and port, such as ``AppStoreModel/AppStoreEnvironment/baseURL``.
    ///   - tokens: Signs the bearer tokens, of which one is kept as long as it may be reused.
    ///   - now: The clock that dates the tokens.
    package init(
        transport: CurlTransport,
        baseURL: String,
        tokens: BearerTokenSigner,
        clock now: @escaping @Sendable () -> UnixMilliseconds
    ) {
        self.transport = transport
        self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        self.tokens = TokenKeeper(signer: tokens)
        self.now = now
    }

    /// One page of an answer.
    ///
    /// - Parameters:
    ///   - request: Of one item; every page of it must be requested with the same filters.
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

    /// Makes sure the next request carries another token than the one Apple refused.
    ///
    /// Does nothing when nobody was refused since the token was made: many workers that get 401 at once cost one
    /// new token.
    package func renewToken() {
        tokens.replaceRefused()
    }

    /// Sends one request and returns the answer as it is, whatever its status, with the server's `Date`.
    package func answer(to request: AppStoreRequest) async throws -> HTTPAnswer {
        HTTPAnswer(try await send(request, .init()))
    }

    private func send(_ call: AppStoreRequest, _ departure: HTTPRequest.Departure) async throws -> HTTPResponse {
        let token = try tokens.token(at: now())
        var request =
            switch call.method {
            case .get: HTTPRequest(.get, baseURL + call.target)
            case .post: HTTPRequest(.post, baseURL + call.target, body: call.body ?? [])
            }
        if call.body != nil { request.headers = [HTTPHeader("Content-Type", "application/json")] }
        request.departure = departure
        request.headers += [
            HTTPHeader("Authorization", "Bearer " + token.text.reveal()), HTTPHeader("Accept", "application/json"),
        ]
        do {
            let response = try await transport.send(request)
            if response.status == 401 { tokens.noteRefusal(of: token) }
            return response
        } catch let fault as TransportFault {
            throw RequestFailure(fault)
        }
    }
}
