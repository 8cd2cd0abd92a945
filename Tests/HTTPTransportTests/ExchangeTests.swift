import HTTPTransport
import Testing

/// Requests and answers when nothing is wrong.
struct ExchangeTests {
    @Test
    func `every Retry-After header arrives as it was written`() async throws {
        let response = try await response(
            to: "HTTP/1.1 429 Slow\r\nRetry-After:  1798761600000 \r\nretry-after: 120\r\nContent-Length: 0\r\n\r\n"
        )
        #expect(response.status == 429)
        #expect(response.headers.values(of: "RETRY-AFTER") == ["1798761600000", "120"])
        #expect(response.headers.first == HTTPHeader("Retry-After", "1798761600000"))
        #expect(response.httpVersion == "1.1")
    }

    @Test
    func `a request goes out as it is written`() async throws {
        let server = try LoopbackServer { _ in answer() }
        defer { server.stop() }
        let body = Array(#"{"startDate":1}"#.utf8)
        _ = try await withTransport { transport in
            try await transport.send(
                HTTPRequest(
                    .post,
                    server.url + "/inApps/v1/notifications/history?paginationToken=a%2Bb",
                    headers: [
                        HTTPHeader("Authorization", "Bearer token"), HTTPHeader("Content-Type", "application/json"),
                    ],
                    body: body
                )
            )
        }
        let request = try #require(server.requests.first)
        #expect(request.hasPrefix("POST /inApps/v1/notifications/history?paginationToken=a%2Bb HTTP/1.1\r\n"))
        #expect(request.hasSuffix("\r\n\r\n{\"startDate\":1}"))
        #expect(request.contains("\r\nAuthorization: Bearer token\r\n"))
        #expect(request.contains("\r\nUser-Agent: StoreLedger\r\n"))
        #expect(request.contains("\r\nAccept-Encoding: gzip\r\n"))
    }

    @Test(arguments: ["/a/../b", "/a/./b", "/inApps/v2/history/../../v1/subscriptions/extend/ms", "//x", "/%2e%2e/y"])
    func `a path is sent as is`(path: String) async throws {
        let server = try LoopbackServer { _ in answer() }
        defer { server.stop() }
        _ = try await withTransport { try await $0.send(HTTPRequest(.get, server.url + path)) }
        #expect(server.requests.first?.hasPrefix("GET \(path) HTTP/1.1\r\n") == true)
    }

    @Test(arguments: [HTTPRequest.Method.post, .put])
    func `a post or put without a body sends an empty one, and no type of it`(method: HTTPRequest.Method) async throws {
        let server = try LoopbackServer { _ in answer() }
        defer { server.stop() }
        _ = try await withTransport { try await $0.send(HTTPRequest(method, server.url + "/")) }
        let request = try #require(server.requests.first)
        #expect(request.hasPrefix("\(method.rawValue) / ") && request.contains("\r\nContent-Length: 0\r\n"))
        #expect(!request.contains("Content-Type"))
    }

    @Test
    func `nothing of one request is left in the next`() async throws {
        let server = try LoopbackServer { _ in answer() }
        defer { server.stop() }
        try await withTransport { transport in
            let secret = [HTTPHeader("Authorization", "Bearer first")]
            _ = try await transport.send(HTTPRequest(.post, server.url + "/1", headers: secret, body: [65, 66]))
            _ = try await transport.send(HTTPRequest(.get, server.url + "/2"))
        }
        let second = try #require(server.requests.last)
        #expect(second.hasPrefix("GET /2 HTTP/1.1\r\n"))
        #expect(!second.contains("Authorization") && !second.contains("Content-"))
    }

    @Test
    func `a gzip body arrives decoded`() async throws {
        let body: [UInt8] = [
            0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xab, 0xae, 0x05, 0x00, 0x43, 0xbf, 0xa6, 0xa3,
            0x02, 0x00, 0x00, 0x00,
        ]
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n"
        #expect(String(try await response(to: Array(head.utf8) + body).body) == "{}")
    }

    @Test
    func `interim answers and trailers leave no header`() async throws {
        let response = try await response(
            to: """
                HTTP/1.1 103 Early Hints\r\nRetry-After: 1\r\n\r\nHTTP/1.1 200 OK\r\nDate: today\r\n\
                Transfer-Encoding: chunked\r\nTrailer: Retry-After\r\n\r\n2\r\n{}\r\n0\r\nRetry-After: 2\r\n\r\n
                """
        )
        #expect(response.status == 200)
        #expect(response.headers.map(\.name) == ["Date", "Transfer-Encoding", "Trailer"])
        #expect(String(response.body) == "{}")
    }

    @Test(arguments: ["204 No Content", "206 Partial Content", "304 Not Modified", "500 Internal Server Error"])
    func `every status is an answer`(status: String) async throws {
        let response = try await response(to: "HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n")
        #expect(status.hasPrefix("\(response.status) "))
        #expect(response.body.isEmpty)
    }

    @Test
    func `two requests share one connection`() async throws {
        let server = try LoopbackServer { _ in answer() }
        defer { server.stop() }
        try await withTransport { transport in
            for _ in 1...2 { _ = try await transport.send(HTTPRequest(.get, server.url + "/")) }
        }
        #expect(server.accepted == 1)
        #expect(server.requests.count == 2)
    }

    @Test
    func `two hundred requests at once are all answered`() async throws {
        let server = try LoopbackServer { request in answer("200 OK", String(request.split(separator: " ")[1])) }
        defer { server.stop() }
        let limit = 16
        try await withTransport {
            $0.maximumConnections = limit
        } _: { transport in
            let url = server.url
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 1...200 {
                    group.addTask {
                        String(try await transport.send(HTTPRequest(.get, "\(url)/\(number)")).body) == "/\(number)"
                    }
                }
                for try await isOwnAnswer in group { #expect(isOwnAnswer) }
            }
        }
        #expect(server.accepted <= limit)
    }
}
