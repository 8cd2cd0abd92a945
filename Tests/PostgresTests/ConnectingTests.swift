import FoundationEssentials
import Postgres
import Synchronization
import TestSupport
import Testing

@Suite(.temporaryDatabase)
struct ConnectingTests {
    @Test func `an absent server is tried until the deadline and then unreachable`() async throws {
        try await withTemporaryDirectory { directory in
            let pool = PostgresPool(conninfo: ConnectionString("host=\(directory) password=hunter2"), size: 1)
            let error = await #expect(throws: PostgresError.self) { try await pool.connect(within: .milliseconds(400)) }
            #expect(error?.isUnreachable == true)
            #expect(error?.isAuthentication == false)
            #expect(error?.description.contains("hunter2") == false)
        }
    }

    @Test func `an error of libpq's is one line without tabs, line ends and escapes`() async throws {
        try await withTemporaryDirectory { directory in
            let error = #expect(throws: PostgresError.self) {
                _ = try PostgresConnection(conninfo: "host=\(directory)")
            }
            let message = try #require(error?.message)
            #expect(message.hasSuffix("failed: No such file or directory"), "\(message)")
        }
        let server = try RefusingServer(states: ["28P01"], message: "as\n\t  scripted")
        defer { server.stop() }
        let error = await #expect(throws: PostgresError.self) { try await server.pool.connect(within: .seconds(50)) }
        let message = try #require(error?.message)
        #expect(message.contains("FATAL: 28P01: as"), "\(message)")
        #expect(!message.contains("\\") && !message.contains("  "), "\(message)")
    }

    @Test func `a session that waits for the server for more than a second reports each failed attempt`() async throws {
        try await withTemporaryDirectory { directory in
            let waits = Mutex<[String]>([])
            let pool = PostgresPool(
                conninfo: ConnectionString("host=\(directory)"),
                size: 1,
                waiting: { error in
                    waits.withLock { $0.append(error.message) }
                }
            )
            let began = ContinuousClock.now
            await #expect(throws: PostgresError.self) { try await pool.connect(within: .milliseconds(500)) }
            // On a busy machine half a second can take longer than the time without a report.
            if ContinuousClock.now - began < PostgresSession.quietTime { #expect(waits.withLock(\.self) == []) }
            await #expect(throws: PostgresError.self) { try await pool.connect(within: .seconds(3)) }
            let reported = waits.withLock(\.self)
            #expect(!reported.isEmpty && reported.allSatisfy { $0.contains("No such file") }, "\(reported)")
        }
    }

    @Test func `FL7 callers share the sessions for which the server has room`() async throws {
        let role = "few_\(UInt32.random(in: 0..<UInt32.max))"
        let admin = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
        try admin.script("CREATE ROLE \(role) LOGIN CONNECTION LIMIT 2")
        let conninfo = try TemporaryDatabase.conninfo
        let url = conninfo + (conninfo.contains("?") ? "&" : "?") + "user=\(role)"
        do {
            let pool = PostgresPool(conninfo: ConnectionString(url), size: 10, patience: .seconds(20))
            let processes = try await withThrowingTaskGroup(of: Int64.self) { group in
                for _ in 0..<60 {
                    group.addTask {
                        try await pool.withConnection { connection in
                            try connection.run("SELECT pg_backend_pid()::bigint AS pid FROM pg_sleep(0.01)")[0].int64(
                                "pid"
                            )
                        }
                    }
                }
                return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
            }
            #expect((1...2).contains(processes.count), "\(processes)")
        }
        try admin.script("DROP ROLE \(role)")
    }

    @Test(arguments: ["57P03", "53300", "57P01"])
    func `D08 a server that starts, stops or is full is tried again`(state: String) async throws {
        let server = try RefusingServer(states: [state, state, "28P01"], message: "as scripted")
        defer { server.stop() }
        let error = await #expect(throws: PostgresError.self) { try await server.pool.connect(within: .seconds(50)) }
        #expect(error?.isAuthentication == true, "\(String(describing: error))")
        #expect(server.refused == 3)
    }

    @Test(arguments: ["57P03", "53300", "57P01"])
    func `D08 a server that is not ready by the deadline is unreachable`(state: String) async throws {
        let server = try RefusingServer(states: [state], message: "as scripted")
        defer { server.stop() }
        let pool = server.pool
        let error = await #expect(throws: PostgresError.self) { try await pool.connect(within: .milliseconds(1)) }
        #expect(error?.isUnreachable == true, "\(String(describing: error))")
        #expect(error?.message.contains("as scripted") == true)
    }

    @Test(arguments: ["28P01", "3D000"])
    func `D08 a server that refuses the connection is tried once`(state: String) async throws {
        let server = try RefusingServer(states: [state], message: "as scripted")
        defer { server.stop() }
        let error = await #expect(throws: PostgresError.self) { try await server.pool.connect(within: .seconds(50)) }
        #expect(error?.isUnreachable == false, "\(String(describing: error))")
        #expect(error?.message.contains("as scripted") == true)
        #expect(server.refused == 1)
    }

    @Test func `a role that may not log in is refused at once`() async throws {
        let role = "nologin_" + UUID().uuidString.lowercased().replacing("-", with: "_")
        let admin = try TemporaryDatabase.pool()
        try await admin.withConnection { try $0.script("CREATE ROLE \(try quotedIdentifier(role)) NOLOGIN") }
        let url = try TemporaryDatabase.conninfo.replacing("user=storeledger", with: "user=\(role)")
        let pool = PostgresPool(conninfo: ConnectionString(url), size: 1)
        let error = await #expect(throws: PostgresError.self) { try await pool.connect(within: .seconds(50)) }
        #expect(error?.isAuthentication == true)
        #expect(error?.isUnreachable == false)
        try await admin.withConnection { try $0.script("DROP ROLE \(try quotedIdentifier(role))") }
    }

    @Test func `a database that does not exist is refused at once`() async throws {
        let url = try TemporaryDatabase.conninfo.replacing("test_", with: "no_such_")
        let pool = PostgresPool(conninfo: ConnectionString(url), size: 1)
        let error = await #expect(throws: PostgresError.self) { try await pool.connect(within: .seconds(50)) }
        #expect(error?.state == .invalidCatalogName)
    }

    @Test(arguments: [
        "password=hunter2 secret-rest",
        "postgresql://user:hunter2@ss@127.0.0.1:1/db",
        "postgresql://user:hun/ter2@127.0.0.1:1/db",
        "postgresql://user:hunter2%zz@127.0.0.1:1/db",
        "postgresql://user:1234/hunter2@127.0.0.1/db",
        "hunter2",
    ])
    func `a connection string that cannot be read is not quoted`(conninfo: String) throws {
        let error = #expect(throws: PostgresError.self) { _ = try PostgresConnection(conninfo: conninfo) }
        #expect(error?.reason == .unreadableConninfo)
        let text = String(reflecting: error)
        #expect(!text.contains("hun") && !text.contains("ter2") && !text.contains("secret-rest"))
    }

    @Test(arguments: [
        (
            "postgresql://user:hunter2@127.0.0.1:1/db?sslmode=disable&pgbouncer=true",
            "pgbouncer is no parameter of PostgreSQL"
        ),
        ("postgresql://user:hunter2@127.0.0.1:1/db\n?sslmode=disable", "it contains a line break"),
    ])
    func `JF23 what another program has added to a connection string is named`(conninfo: String, words: String) throws {
        let error = #expect(throws: PostgresError.self) { _ = try PostgresConnection(conninfo: conninfo) }
        #expect(error?.reason == .unreadableConninfo && error?.message.contains(words) == true)
        #expect(!String(reflecting: error).contains("hunter2"))
    }

    @Test func `JF23 a line break at the end of a connection string is ignored`() throws {
        let error = #expect(throws: PostgresError.self) {
            _ = try PostgresConnection(conninfo: "postgresql://user@127.0.0.1:1/db\r\n")
        }
        #expect(error?.reason == .connection)
    }

    @Test func `the error of a refused connection does not contain the password`() throws {
        let error = #expect(throws: PostgresError.self) {
            _ = try PostgresConnection(conninfo: "postgresql://user:hunter2@127.0.0.1:1/db")
        }
        #expect(error?.reason == .connection)
        #expect(!String(reflecting: error).contains("hunter2"))
        #expect(!"\(ConnectionString("password=hunter2"))".contains("hunter2"))
    }

    @Test func `D04 a database of another encoding is refused`() async throws {
        let name = "ascii_" + UUID().uuidString.lowercased().replacing("-", with: "_")
        let admin = try TemporaryDatabase.pool()
        let quoted = try quotedIdentifier(name)
        try await admin.withConnection {
            try $0.script("CREATE DATABASE \(quoted) ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
        }
        let url = try TemporaryDatabase.conninfo.replacing(/test_[0-9a-f_]+/, with: name)
        let error = #expect(throws: PostgresError.self) { _ = try PostgresConnection(conninfo: url) }
        #expect(error?.reason == .unsupportedServer)
        #expect(error?.message.contains("SQL_ASCII") == true)
        try await admin.withConnection { try $0.script("DROP DATABASE \(quoted) WITH (FORCE)") }
    }

    /// libpq takes its environment variables, `PGCLIENTENCODING` among them, only where the connection string is silent.
    @Test(arguments: ["LATIN1", "SQL_ASCII", "BIG5"])
    func `D04 the session uses UTF-8 with every database and connection string`(encoding: String) async throws {
        try await TemporaryDatabase.pool().withConnection { connection throws in
            let name = try connection.run("SELECT current_database()::text AS name")[0].text("name")
            try connection.script("ALTER DATABASE \(try quotedIdentifier(name)) SET client_encoding = '\(encoding)'")
        }
        let conninfo = try TemporaryDatabase.conninfo
        let separator = conninfo.contains("://") ? "&" : " "
        let connection = try PostgresConnection(conninfo: "\(conninfo)\(separator)client_encoding=\(encoding)")
        #expect(try connection.run("SHOW client_encoding")[0].text("client_encoding") == "UTF8")
        #expect(try connection.run("SELECT $1 AS text", [.text("é🧾")])[0].text("text") == "é🧾")
    }

    @Test func `moments are read the same with every setting of the database`() async throws {
        let pool = try TemporaryDatabase.pool()
        try await pool.withConnection { connection throws in
            let name = try connection.run("SELECT current_database()::text AS name")[0].text("name")
            try connection.script(
                """
                ALTER DATABASE \(try quotedIdentifier(name)) SET TimeZone = 'Asia/Tokyo';
                ALTER DATABASE \(try quotedIdentifier(name)) SET DateStyle = 'German';
                ALTER DATABASE \(try quotedIdentifier(name)) SET bytea_output = 'escape'
                """
            )
        }
        let fresh = try PostgresConnection(conninfo: TemporaryDatabase.conninfo)
        let row = try fresh.run("SELECT $1 AS moment, $2 AS bytes", [.timestamp(1_700_000_000_123), .bytea([0, 65])])[0]
        #expect(try row.timestamp("moment") == 1_700_000_000_123)
        #expect(try row.bytes("bytes") == [0, 65])
    }
}
