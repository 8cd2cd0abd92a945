import Foundation
import HTTPTransport
import Testing

/// Which servers TLS accepts.
///
/// The servers are real: `openssl s_server`.
@Suite(.enabled(if: OpenSSLServer.isInstalled, "the openssl command is not installed"))
struct TLSTests {
    @Test
    func `a certificate for this host from a named authority is accepted`() async throws {
        let server = try OpenSSLServer()
        defer { server.stop() }
        let response = try await server.get("https://localhost:\(server.port)/", trusting: server.certificate)
        #expect(response.status == 200)
    }

    @Test
    func `H51 a certificate of an unknown authority is refused`() async throws {
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
    func `H47 H51 a certificate for another host is refused`() async throws {
        let server = try OpenSSLServer()
        defer { server.stop() }
        let fault = await #expect(throws: TransportFault.self) {
            try await server.get("https://127.0.0.1:\(server.port)/", trusting: server.certificate)
        }
        #expect(fault?.reason == .tls)
    }

    @Test(arguments: ["-tls1", "-tls1_1"])
    func `H50 TLS older than 1.2 is refused`(version: String) async throws {
        let server = try OpenSSLServer(version, "-cipher", "DEFAULT@SECLEVEL=0")
        defer { server.stop() }
        let fault = await #expect(throws: TransportFault.self) {
            try await server.get("https://localhost:\(server.port)/", trusting: server.certificate)
        }
        #expect(fault?.reason == .tls)
    }

    @Test
    func `H52 authorities named in the environment are ignored`() async {
        await #expect(processExitsWith: .success) {
            let server = try OpenSSLServer()
            defer { server.stop() }
            let other = try OpenSSLServer()
            defer { other.stop() }
            unsafe setenv("SSL_CERT_FILE", server.certificate, 1)
            unsafe setenv("CURL_CA_BUNDLE", server.certificate, 1)
            let folder = server.certificate + ".directory"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try FileManager.default.copyItem(atPath: server.certificate, toPath: folder + "/cert.pem")
            try #require(try Command("openssl", "rehash", folder).wait() == 0)
            unsafe setenv("SSL_CERT_DIR", folder, 1)
            let fault = await #expect(throws: TransportFault.self) {
                try await server.get("https://localhost:\(server.port)/", trusting: other.certificate)
            }
            try #require(fault?.reason == .tls)
        }
    }

    /// Valid a month ago, and in a month.
    @Test(arguments: [-40, 20])
    func `H51 a certificate out of its time is refused`(days: Int) async throws {
        let server = try OpenSSLServer(validFrom: days)
        defer { server.stop() }
        let fault = await #expect(throws: TransportFault.self) {
            try await server.get("https://localhost:\(server.port)/", trusting: server.certificate)
        }
        #expect(fault?.reason == .tls)
    }

    @Test
    func `H51 H55 no revocation check is made over the network`() async throws {
        let authority = try LoopbackServer { _ in }
        defer { authority.stop() }
        let server = try OpenSSLServer(extensions: [
            "authorityInfoAccess=OCSP;URI:\(authority.url)/ocsp,caIssuers;URI:\(authority.url)/ca",
            "crlDistributionPoints=URI:\(authority.url)/crl",
        ])
        defer { server.stop() }
        let response = try await server.get("https://localhost:\(server.port)/", trusting: server.certificate)
        #expect(response.status == 200)
        #expect(authority.accepted == 0)
    }

    /// How a server ends a handshake.
    enum Cut: String, CaseIterable, Sendable {
        case atOnce, afterHello, storm
    }

    @Test(arguments: Cut.allCases)
    func `H54 a handshake that is cut may be tried again`(cut: Cut) async throws {
        let server = try LoopbackServer { connection in
            guard cut != .atOnce else { return }
            connection.waitForBytes()
            // Warnings (level 1), after which the client continues until there are too many.
            if cut == .storm { connection.write(Array(repeatElement([21, 3, 3, 0, 2, 1, 90], count: 100).joined())) }
        }
        defer { server.stop() }
        try await withTransport { transport in
            let fault = await #expect(throws: TransportFault.self) {
                try await transport.send(HTTPRequest(.get, "https://127.0.0.1:\(server.port)/"))
            }
            #expect(fault?.reason == .connectionLost)
        }
    }
}
