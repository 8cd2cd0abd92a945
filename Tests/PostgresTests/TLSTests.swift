import Glibc
import TestSupport
import Testing

@testable import Postgres

/// D25, D26: which servers are accepted, and that they do not see the password.
@Suite(.enabled(if: TLSServer.isPossible, "the openssl command is not installed"))
struct TLSTests {
    @Test func `D26 only the server that proves its name is talked to, and it never sees the password`() async throws {
        try await TLSServer.running { server in
            let session = try PostgresConnection(conninfo: server.conninfo())
            let tls = try session.run("SELECT ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()")[0]
            #expect(try tls.bool("ssl"))
            #expect(["TLSv1.2", "TLSv1.3"].contains(try tls.text("version")))

            try refuses(server.conninfo(host: "another.test"), "does not match host name")
            try refuses(server.conninfo("sslrootcert=\(server.strangeAuthority)"), "certificate verify failed")
            try refuses(server.conninfo("sslrootcert=\(server.directory)/no-such.pem"), "root certificate file")
            try refuses(server.conninfo(user: "clear_user"), "password_encryption = scram-sha-256")
            try refuses(server.conninfo(user: "md5_user"), "password_encryption = scram-sha-256")
            // The authorities of the system know nothing of a test's own.
            let silent = server.conninfo().replacing("sslrootcert=\(server.authority)", with: "")
            try refuses(silent, "certificate", systemRoots: server.strangeAuthority)
            _ = try PostgresConnection(conninfo: silent, systemRoots: server.authority)

            // Without the demands the same two roles are let in: it is we who refuse.
            for user in ["clear_user", "md5_user"] {
                let local = server.conninfo(user: user).replacing("sslmode=verify-full", with: "sslmode=disable")
                _ = try PostgresConnection(conninfo: local)
            }
        }
    }

    @Test func `D26 an expired certificate is refused at once`() async throws {
        try await TLSServer.running(.expired) { try refuses($0.conninfo(), "certificate verify failed") }
    }

    @Test func `D26 a server without TLS is refused at once`() async throws {
        try await TLSServer.running(.none) { try refuses($0.conninfo(), "does not support SSL") }
    }

    @Test func `a session is not tried for again when the server is the wrong one`() async throws {
        try await TLSServer.running { server in
            let pool = PostgresPool(conninfo: ConnectionString(server.conninfo(host: "another.test")), size: 1)
            let error = await #expect(throws: PostgresError.self) { try await pool.connect(within: .seconds(100)) }
            #expect(error?.reason == .untrustedServer)
        }
    }

    private func refuses(
        _ conninfo: String,
        _ words: String,
        systemRoots: String? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let error = #expect(throws: PostgresError.self, sourceLocation: location) {
            _ = try PostgresConnection(conninfo: conninfo, systemRoots: systemRoots)
        }
        #expect(error?.reason == .untrustedServer, "\(String(describing: error))", sourceLocation: location)
        #expect(error?.message.contains(words) == true, "\(String(describing: error))", sourceLocation: location)
        #expect(error?.description.contains("planted-pass-word") == false, sourceLocation: location)
    }
}
