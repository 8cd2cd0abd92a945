import FoundationEssentials
package import Postgres
import Synchronization
package import Testing

/// Creates a new, empty database for each test, and drops it afterwards.
///
/// Tests run concurrently on one server and share no data. The trait of a suite, `@Suite(.temporaryDatabase)`, applies
/// to all its tests. ``conninfo`` is the connection string.
package struct TemporaryDatabase: TestTrait, SuiteTrait, TestScoping {
    /// The environment variable with the connection string of a running private server, whose user may create databases.
    package static let variable = "STORELEDGER_TEST_POSTGRES"

    @TaskLocal private static var current: Current?

    fileprivate let template: Template?

    package let isRecursive = true

    /// The connection string of this test's database; a URL when the server's connection string is a URL.
    ///
    /// - Throws: ``TemporaryDatabaseError`` in a test without the trait.
    package static var conninfo: String {
        get throws {
            guard let current else { throw TemporaryDatabaseError.noTrait }
            return current.conninfo
        }
    }

    /// A pool of sessions in this test's database.
    package static func pool(size: Int = 2) throws -> PostgresPool {
        PostgresPool(conninfo: ConnectionString(try conninfo), size: size, patience: .seconds(10))
    }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        let server = try Self.server.get()
        await Self.gate.enter(isFirst: test.traits.contains { $0 is EarlyStart })
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await withDatabase(on: server, function))
        } catch {
            outcome = .failure(error)
        }
        await Self.gate.leave()
        try outcome.get()
    }

    /// At most this many tests have a database at a time.
    ///
    /// Each has several sessions, of which the server allows 200,
    /// and a thread for each session.
    private static let gate = Gate(places: 12)

    private func withDatabase(
        on server: Server,
        _ function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let current = Current(server: server, template: template)
        try await current.create(from: template)
        let outcome: Result<Void, any Error>
        do {
            try await Self.$current.withValue(current) { try await function() }
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        try await current.drop()
        try outcome.get()
    }

    /// Makes this test's database a copy of a template, unless the test has used it already.
    ///
    /// - Returns: Whether it is a copy of the template.
    /// - Throws: ``TemporaryDatabaseError`` in a test without the trait.
    package static func become(copyOf template: Template) async throws -> Bool {
        guard let current else { throw TemporaryDatabaseError.noTrait }
        return try await current.become(copyOf: template)
    }

    /// The database of one test.
    private final class Current: Sendable {
        let conninfo: String
        private let name: String
        private let server: Server
        private let state: Mutex<State>

        private struct State {
            /// The template that the database is a copy of; `nil` if it was created empty.
            var template: Template?
            /// Whether the test may have used it.
            var isUsed = false
        }

        /// A database that is still to be created.
        init(server: Server, template: Template?) {
            name = "test_" + UUID().uuidString.lowercased().replacing("-", with: "_")
            conninfo = database(name, at: server.conninfo)
            self.server = server
            state = Mutex(State(template: template))
        }

        func create(from template: Template?) async throws {
            let original = try await template?.name ?? "template1"
            try await server.pool.withConnection { connection in
                // Copying the files takes half the time of the other strategy, which writes every page to the log.
                try connection.script(
                    """
                    CREATE DATABASE \(try quotedIdentifier(self.name))
                    TEMPLATE \(try quotedIdentifier(original)) STRATEGY file_copy
                    """
                )
            }
        }

        func drop() async throws {
            try await server.pool.withConnection {
                try $0.script("DROP DATABASE \(try quotedIdentifier(self.name)) WITH (FORCE)")
            }
        }

        func become(copyOf template: Template) async throws -> Bool {
            let before = state.withLock { state in
                defer { state.isUsed = true }
                return state
            }
            if before.template === template { return true }
            guard !before.isUsed else { return false }
            if before.template == nil, try await !isEmpty() { return false }
            try await drop()
            try await create(from: template)
            state.withLock { $0.template = template }
            return true
        }

        private func isEmpty() async throws -> Bool {
            let pool = PostgresPool(conninfo: ConnectionString(conninfo), size: 1, patience: .seconds(20))
            return try await pool.withConnection { connection in
                try connection.run(
                    "SELECT NOT EXISTS (SELECT FROM pg_namespace WHERE oid >= 16384) AND NOT EXISTS (SELECT FROM pg_class WHERE oid >= 16384) AS found"
                )[0].bool("found")
            }
        }
    }

    fileprivate struct Server: Sendable {
        let conninfo: String
        let pool: PostgresPool
    }

    private static let server: Result<Server, TemporaryDatabaseError> = {
        guard let conninfo = ProcessInfo.processInfo.environment[variable], !conninfo.isEmpty else {
            return .failure(.noServer)
        }
        let pool = PostgresPool(conninfo: ConnectionString(conninfo), size: 2, patience: .seconds(20))
        return .success(Server(conninfo: conninfo, pool: pool))
    }()
}

extension TemporaryDatabase {
    /// A database that is filled once in each test process and then copied: a copy takes an eighth of a migration's time.
    ///
    /// Tests with the shared server copy the database. ``OwnPostgres`` copies the files of a second server, which has only this
    /// database and is stopped. `scripts/test` removes both in the end, because both are in the shared server's directory.
    package final class Template: Sendable {
        private let database: MadeOnce<String>
        private let cluster: MadeOnce<String>

        /// - Parameter fill: Fills the empty database with this connection string.
        package init(_ fill: @escaping @Sendable (_ conninfo: String) async throws -> Void) {
            database = MadeOnce { try await TemporaryDatabase.server.get().filledDatabase(fill) }
            cluster = MadeOnce {
                let shared = try await TemporaryDatabase.server.get().directory()
                return try await OwnPostgres.makeCluster(in: "\(shared)/template-\(UUID().uuidString)", fill)
            }
        }

        /// The name of the filled database.
        fileprivate var name: String {
            get async throws { try await database.value }
        }

        /// The files of a stopped server whose database `storeledger` is filled, for ``OwnPostgres``.
        var files: String {
            get async throws { try await cluster.value }
        }
    }
}

extension TemporaryDatabase.Server {
    /// A filled database that can be copied.
    fileprivate func filledDatabase(_ fill: (_ conninfo: String) async throws -> Void) async throws -> String {
        let name = "template_" + UUID().uuidString.lowercased().replacing("-", with: "_")
        let quoted = try quotedIdentifier(name)
        try await pool.withConnection { try $0.script("CREATE DATABASE \(quoted)") }
        try await fill(database(name, at: conninfo))
        // PostgreSQL copies no database that has sessions.
        try await pool.withConnection { connection in
            try connection.script("ALTER DATABASE \(quoted) ALLOW_CONNECTIONS false")
            _ = try connection.run(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = $1",
                [.text(name)]
            )
        }
        return name
    }

    /// The directory that `scripts/test` removes in the end.
    fileprivate func directory() async throws -> String {
        let files = try await pool.withConnection { try $0.run("SHOW data_directory")[0].text("data_directory") }
        return URL(filePath: files).deletingLastPathComponent().path
    }
}

extension Trait where Self == TemporaryDatabase {
    /// A new, empty database for each test.
    package static var temporaryDatabase: Self { TemporaryDatabase(template: nil) }

    /// A new copy of a database for each test.
    package static func temporaryDatabase(_ template: TemporaryDatabase.Template) -> Self {
        TemporaryDatabase(template: template)
    }
}

/// Why a test has no database.
package enum TemporaryDatabaseError: Error, CustomStringConvertible {
    case noServer
    case noTrait

    package var description: String {
        switch self {
        case .noServer:
            "\(TemporaryDatabase.variable) is not set; run scripts/test, which starts a private PostgreSQL"
        case .noTrait:
            "the test has no database; give it or its suite the trait .temporaryDatabase"
        }
    }
}

/// The connection string of another database on the same server.
private func database(_ name: String, at conninfo: String) -> String {
    guard let scheme = conninfo.firstRange(of: "://") else { return "\(conninfo) dbname=\(name)" }
    let authority = conninfo[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }
    let query = conninfo[authority.endIndex...].drop { $0 != "?" }
    return "\(conninfo[..<authority.endIndex])/\(name)\(query)"
}
