import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Postgres

/// D25: what a connection to another machine must be like, decided before anything is sent.
struct TransportRequirementTests {
    private static func words(
        _ conninfo: String,
        systemRoots: String? = "/roots.crt",
        version: Int32 = 150_000
    ) throws(PostgresError) -> [String: String] {
        try TransportRequirements(ConnectionSettings(conninfo: conninfo), systemRoots: systemRoots, version: version)
            .overrides
    }

    @Test(
        arguments: ["disable", "allow", "prefer", "require", "verify-ca"],
        [
            "host=db.example.com", "postgresql://db.example.com/ledger?", "hostaddr=192.0.2.1",
            "host=localhost,192.0.2.1",
        ]
    )
    func `D25 a weaker mode than verify-full is refused over a network, and named`(mode: String, place: String) throws {
        let conninfo = place + (place.hasSuffix("?") ? "" : " ") + "sslmode=\(mode)"
        let error = #expect(throws: PostgresError.self) { try Self.words(conninfo) }
        #expect(error?.reason == .insecureTransport)
        #expect(error?.message.contains("sslmode=\(mode)") == true)
        #expect(error?.message.contains("use sslmode=verify-full") == true)
    }

    @Test(arguments: ["host=db.example.com", "host=db.example.com sslmode=verify-full", "hostaddr=2001:db8::1 host=db"])
    func `D25 a network connection without sslmode uses verify-full and system authorities`(conninfo: String) throws {
        let words = try Self.words(conninfo)
        #expect(words["sslmode"] == "verify-full" && words["sslrootcert"] == "/roots.crt")
        #expect(words["gssencmode"] == "disable" && words["ssl_min_protocol_version"] == "TLSv1.2")
        #expect(try Self.words(conninfo + " sslrootcert=/own.crt")["sslrootcert"] == nil)
        #expect(try Self.words(conninfo + " ssl_min_protocol_version=TLSv1")["ssl_min_protocol_version"] == "TLSv1.2")
        #expect(try Self.words(conninfo + " ssl_min_protocol_version=TLSv1.3")["ssl_min_protocol_version"] == nil)
    }

    @Test(arguments: [
        "", "host=/run/postgresql", "host=@abstract", "host=127.0.0.1", "host=127.9.9.9", "host=::1", "host=localhost",
        "host=db.example.com hostaddr=127.0.0.1", "postgresql://[::1]:5433/ledger", "postgresql:///ledger?host=/tmp",
        "host=/run/postgresql,127.0.0.1", "host=::ffff:127.0.0.1",
    ])
    func `D25 a connection to this machine needs no TLS`(conninfo: String) throws {
        #expect(try Self.words(conninfo).isEmpty)
        #expect(
            try Self.words(
                conninfo + (conninfo.contains("://") ? (conninfo.contains("?") ? "&" : "?") : " ") + "sslmode=disable"
            ).isEmpty
        )
    }

    @Test(arguments: ["host=127.1", "host=0177.0.0.1", "host=localhost.example.com", "host=::2", "host=128.0.0.1"])
    func `what only looks like loopback is a network`(conninfo: String) throws {
        #expect(try Self.words(conninfo)["sslmode"] == "verify-full")
    }

    @Test func `localhost that is another machine is refused before a byte is sent`() throws {
        let demands = try TransportRequirements(ConnectionSettings(conninfo: "host=localhost"), systemRoots: nil)
        #expect(throws: PostgresError.self) { try demands.check(address: "192.0.2.1") }
        for address in ["", "127.0.0.1", "::1"] { try demands.check(address: address) }
    }

    @Test func `D26 libpq before 16 binds SCRAM to TLS wherever there is a password to lose`() throws {
        #expect(try Self.words("host=db password=x")["channel_binding"] == "require")
        #expect(try Self.words("host=db password=x channel_binding=disable")["channel_binding"] == "require")
        #expect(try Self.words("host=a,b")["channel_binding"] == "require")
        #expect(try Self.words("host=db")["channel_binding"] == nil)
    }

    @Test func `D26 libpq since 16 refuses to send a password or its MD5`() throws {
        #expect(try Self.words("host=db password=x", version: 160_000)["require_auth"] == "!password,!md5")
        #expect(try Self.words("host=db password=x", version: 160_000)["channel_binding"] == nil)
    }

    /// The environment belongs to the whole process, so each of these runs in a separate process.
    @Test func `D25 PGHOST, PGSSLMODE and a service file count`() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("PGHOST", "db.example.com", 1)
            try require(try TransportRequirementTests.words("dbname=ledger")["sslmode"] == "verify-full")
            try require(try TransportRequirementTests.words("host=/tmp").isEmpty)
            unsafe setenv("PGSSLMODE", "prefer", 1)
            try require((try? TransportRequirementTests.words("dbname=ledger")) == nil)
            unsafe unsetenv("PGSSLMODE")
            unsafe unsetenv("PGHOST")

            let file = FileManager.default.temporaryDirectory.path + "/roles-service-\(UUID().uuidString).conf"
            let text =
                "[plain]\nhost=db.example.com\nsslmode=require\n[silent]\nhost=db.example.com\n[local]\nhost=/tmp\n"
            try Data(text.utf8).write(to: URL(filePath: file))
            unsafe setenv("PGSERVICEFILE", file, 1)
            try require((try? TransportRequirementTests.words("service=plain")) == nil)
            try require(try TransportRequirementTests.words("service=silent")["sslmode"] == "verify-full")
            try require(try TransportRequirementTests.words("service=local").isEmpty)
            unsafe setenv("PGSERVICE", "plain", 1)
            try require((try? TransportRequirementTests.words("dbname=ledger")) == nil)
            // An undefined service is an error and never a reason to connect without TLS.
            do {
                _ = try TransportRequirementTests.words("service=nobody")
                try require(false)
            } catch let error as PostgresError {
                try require(error.reason == .unreadableConninfo)
            }
            try FileManager.default.removeItem(atPath: file)
        }
    }
}

private func require(_ condition: Bool) throws {
    try #require(condition)
}
