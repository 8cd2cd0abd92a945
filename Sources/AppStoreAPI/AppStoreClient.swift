package import AppStoreModel
package import HTTPTransport
package import SignedData

/// Apple's App Store Server API, one function per endpoint, each one request and one answer.
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

    /// Get Transaction History: the page after `revision`, or the first.
    ///
    /// `query` must be the same for every page of one crawl.
    package func transactionHistory(
        of id: TransactionID,
        query: HistoryQuery,
        revision: String?,
        departing departure: HTTPRequest.Departure = .init()
    ) async throws -> Page {
        let parameters = query.parameters + [("revision", revision)]
        return try page(
            await get("/inApps/v2/history/\(id.text)", parameters, departure),
            PageDecoder.transactionHistory
        )
    }

    /// Get Refund History: the page after `revision`, or the first.
    package func refundHistory(
        of id: TransactionID,
        revision: String?,
        departing departure: HTTPRequest.Departure = .init()
    ) async throws -> Page {
        let response = try await get("/inApps/v2/refund/lookup/\(id.text)", [("revision", revision)], departure)
        return try page(response, PageDecoder.refundHistory)
    }

    /// Get Notification History: the page after `paginationToken`, or the first.
    ///
    /// `query` must be the same for every page of one crawl.
    package func notificationHistory(
        _ query: NotificationQuery,
        paginationToken: String?,
        departing departure: HTTPRequest.Departure = .init()
    ) async throws -> Page {
        try page(await askNotifications(query, paginationToken, departure), PageDecoder.notificationHistory)
    }

    /// Makes sure the next request carries another token than the one Apple refused.
    ///
    /// Does nothing when nobody was refused since the token was made: many workers that get 401 at once cost one
    /// new token.
    package func renewToken() {
        tokens.replaceRefused()
    }

    /// One cheap request, to see whether key, clock and network are in order.
    ///
    /// Asks for the failed notifications of the last minute; costs one unit of that endpoint's hourly limit.
    ///
    /// - Returns: What Apple said, whatever its status, with the server's `Date`.
    package func probe() async throws -> HTTPAnswer {
        let end = now()
        var query = NotificationQuery(startDate: end - .seconds(60), endDate: end)
        query.onlyFailures = true
        return HTTPAnswer(try await askNotifications(query, nil, .init()))
    }

    private func get(
        _ path: String,
        _ parameters: QueryParameters,
        _ departure: HTTPRequest.Departure
    ) async throws -> HTTPResponse {
        try await send(HTTPRequest(.get, baseURL + path + parameters.queryString), departure)
    }

    private func askNotifications(
        _ query: NotificationQuery,
        _ paginationToken: String?,
        _ departure: HTTPRequest.Departure
    ) async throws -> HTTPResponse {
        let parameters: QueryParameters = [("paginationToken", paginationToken)]
        var request = HTTPRequest(
            .post,
            baseURL + "/inApps/v1/notifications/history" + parameters.queryString,
            body: query.jsonBody
        )
        request.headers = [HTTPHeader("Content-Type", "application/json")]
        return try await send(request, departure)
    }

    private func page(
        _ response: HTTPResponse,
        _ decode: ([UInt8]) throws(RequestFailure) -> Page
    ) throws(RequestFailure) -> Page {
        guard response.status == 200 else { throw .answered(HTTPAnswer(response)) }
        var page = try decode(response.body)
        page.date = response.headers.values(of: "Date").first
        return page
    }

    private func send(_ request: HTTPRequest, _ departure: HTTPRequest.Departure) async throws -> HTTPResponse {
        let token = try tokens.token(at: now())
        var request = request
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
