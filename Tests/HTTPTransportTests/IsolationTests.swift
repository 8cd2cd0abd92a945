import Foundation
import HTTPTransport
import Testing

/// What a server or the environment would like us to do, and we do not.
struct IsolationTests {
    @Test(arguments: [301, 302, 303, 307, 308])
    func `H43 a redirect is an answer, and is not followed`(status: Int) async throws {
        let other = try LoopbackServer { _ in answer() }
        defer { other.stop() }
        let locations = [
            other.url + "/", "file:///etc/passwd", "/here", "//127.0.0.1:\(other.port)/",
            "http://localhost:\(other.port)/",
            "https://localhost:\(other.port)/",
        ]
        for location in locations {
            let server = try LoopbackServer { _ in answer("\(status) Moved", headers: ["Location: \(location)"]) }
            defer { server.stop() }
            let response = try await withTransport { transport in
                try await transport.send(
                    HTTPRequest(.get, server.url + "/", headers: [HTTPHeader("Authorization", "Bearer token")])
                )
            }
            #expect(response.status == status)
            #expect(response.headers.values(of: "location") == [location])
            #expect(server.requests.count == 1)
        }
        #expect(other.accepted == 0)
    }

    @Test
    func `H48 a cookie is not sent back, and a demand for TLS not kept`() async throws {
        let server = try LoopbackServer { _ in
            answer(headers: ["Set-Cookie: a=b; Path=/", "Strict-Transport-Security: max-age=99999"])
        }
        defer { server.stop() }
        try await withTransport { transport in
            for _ in 1...2 { _ = try await transport.send(HTTPRequest(.get, server.url + "/")) }
        }
        #expect(server.requests.count == 2)
        #expect(server.requests.allSatisfy { !$0.contains("Cookie") })
    }

    @Test
    func `H45 proxies named in the environment are ignored`() async {
        // The environment belongs to the whole process, so this one has its own.
        await #expect(processExitsWith: .success) {
            let proxy = try LoopbackServer { _ in answer("502 Bad Gateway") }
            let server = try LoopbackServer { _ in answer() }
            for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
                unsafe setenv(name, proxy.url, 1)
            }
            let status = try await withTransport { try await $0.send(HTTPRequest(.get, server.url + "/")).status }
            try #require(status == 200 && proxy.accepted == 0 && server.accepted == 1)
            // Over TLS too: the handshake goes to the server, which hangs up.
            let tls = try LoopbackServer { _ in }
            await #expect(throws: TransportFault.self) {
                try await withTransport { try await $0.send(HTTPRequest(.get, "https://127.0.0.1:\(tls.port)/")) }
            }
            try #require(proxy.accepted == 0 && tls.accepted == 1)
        }
    }

    @Test
    func `H46 a netrc entry for the host is ignored`() async {
        await #expect(processExitsWith: .success) {
            let home = FileManager.default.temporaryDirectory.appending(path: "storeledger-\(UUID())")
            try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: home) }  // a leftover directory is harmless
            try Data("machine 127.0.0.1 login someone password secret\ndefault login other password secret\n".utf8)
                .write(to: home.appending(path: ".netrc"))
            unsafe setenv("HOME", home.path, 1)
            let server = try LoopbackServer { _ in answer() }
            _ = try await withTransport { try await $0.send(HTTPRequest(.get, server.url + "/")) }
            let request = try #require(server.requests.first)
            try #require(!request.contains("Authorization"))
        }
    }
}
