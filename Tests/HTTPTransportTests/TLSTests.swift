import Foundation
import HTTPTransport
import Testing

/// Whom we believe over TLS.
///
/// The servers are real: `openssl s_server`.
@Suite(.timeLimit(.minutes(1)), .enabled(if: OpenSSLServer.isInstalled, "the openssl command is not installed"))
struct TLSTests {
    @Test
    func `a certificate of a named authority for this host is believed`() async throws {
        let server = try OpenSSLServer()
        defer { server.stop() }
        let response = try await server.get("https://localhost:\(server.port)/", trusting: server.certificate)
        #expect(response.status == 200)
    }

    @Test
    func `a certificate of an unknown authority is refused`() async throws {
        let server = try OpenSSLServer()
        defer { server.stop() }
        let other = try OpenSSLServer()
        defer { other.stop() }
        let fault = await #expect(throws: TransportFault.self) {
            try await server.get("https://localhost:\(server.port)/", trusting: other.certificate)
        }
        #expect(fault?.reason == .tls)
    }

    @Test
    func `a certificate for another host is refused`() async throws {
        let server = try OpenSSLServer()
        defer { server.stop() }
        let fault = await #expect(throws: TransportFault.self) {
            try await server.get("https://127.0.0.1:\(server.port)/", trusting: server.certificate)
        }
        #expect(fault?.reason == .tls)
    }

    @Test
    func `TLS older than 1.2 is refused`() async throws {
        let server = try OpenSSLServer("-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0")
        defer { server.stop() }
        let fault = await #expect(throws: TransportFault.self) {
            try await server.get("https://localhost:\(server.port)/", trusting: server.certificate)
        }
        #expect(fault?.reason == .tls)
    }

    @Test
    func `authorities named in the environment are ignored`() async {
        await #expect(processExitsWith: .success) {
            let server = try OpenSSLServer()
            defer { server.stop() }
            let other = try OpenSSLServer()
            defer { other.stop() }
            unsafe setenv("SSL_CERT_FILE", server.certificate, 1)
            unsafe setenv("CURL_CA_BUNDLE", server.certificate, 1)
            let fault = await #expect(throws: TransportFault.self) {
                try await server.get("https://localhost:\(server.port)/", trusting: other.certificate)
            }
            try #require(fault?.reason == .tls)
        }
    }

    @Test
    func `a handshake that is cut may be tried again`() async throws {
        let server = try LoopbackServer { _ in }
        defer { server.stop() }
        try await withTransport { transport in
            let fault = await #expect(throws: TransportFault.self) {
                try await transport.send(HTTPRequest(.get, "https://127.0.0.1:\(server.port)/"))
            }
            #expect(fault?.reason == .connectionLost)
        }
    }
}
