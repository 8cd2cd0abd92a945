import HTTPTransport
import Testing

/// What must never leave the house.
struct RefusedRequestTests {
    @Test(arguments: [
        "http://example.com/", "http://127.0.0.1.example.com/", "http://169.254.169.254/", "http://[::2]/",
        "http://0127.0.0.1.nip.io/", "ftp://127.0.0.1/", "file:///etc/passwd", "gopher://127.0.0.1/",
        "https://api.storekit.apple.com@127.0.0.1/", "https://user:secret@127.0.0.1/", "127.0.0.1", "//127.0.0.1/", "",
        "https://", "http://127.0.0.1/a b", "http://127.0.0.1/a\r\nX: y", "http://127.0.0.1/\0", "http://127.0.0.1/é",
        "http://127.0.0.1/\u{7F}", "http://api。example/",
    ])
    func `a URL that is not https to a plain host is refused`(url: String) async throws {
        try await withTransport { transport in
            let fault = await #expect(throws: TransportFault.self) { try await transport.send(HTTPRequest(.get, url)) }
            #expect(fault?.reason == .invalidRequest)
            #expect(fault?.detail.contains("secret") == false)
        }
    }

    @Test
    func `plain http is refused unless it is allowed`() async throws {
        let server = try LoopbackServer { _ in answer() }
        defer { server.stop() }
        try await withTransport {
            $0.allowsPlainHTTP = false
        } _: { transport in
            let fault = await #expect(throws: TransportFault.self) {
                try await transport.send(HTTPRequest(.get, server.url + "/"))
            }
            #expect(fault?.reason == .invalidRequest)
        }
        #expect(server.accepted == 0)
    }

    @Test(arguments: [
        ("Authorization", "Bearer secret\r\nX-Evil: 1"), ("Authorization", "Bearer secret\n"),
        ("Authorization", "Bearer secret\0"), ("Authorization: x\r\nA", "secret"), ("", "secret"), ("A b", "secret"),
    ])
    func `a header that could become two is refused, and not quoted`(name: String, value: String) async throws {
        let server = try LoopbackServer { _ in answer() }
        defer { server.stop() }
        try await withTransport { transport in
            let request = HTTPRequest(.get, server.url + "/", headers: [HTTPHeader(name, value)])
            let fault = await #expect(throws: TransportFault.self) { try await transport.send(request) }
            #expect(fault?.reason == .invalidRequest)
            #expect(fault.map { String(reflecting: $0).contains("secret") } == false)
        }
        #expect(server.accepted == 0)
    }

    @Test
    func `a CA file that cannot be read stops the transport`() {
        var configuration = TransportConfiguration()
        configuration.caFile = "/nonexistent/ca.pem"
        let fault = #expect(throws: TransportFault.self) { try CurlTransport(configuration) }
        #expect(fault?.reason == .unavailable)
        #expect(fault?.detail.contains("/nonexistent/ca.pem") == true)
    }
}
