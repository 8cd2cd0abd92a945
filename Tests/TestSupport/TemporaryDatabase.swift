import FoundationEssentials
package import Postgres
package import Testing

/// Creates a new, empty database for each test, and drops it afterwards.
///
/// Tests run concurrently on one server and share no data. The trait of a suite, `@Suite(.temporaryDatabase)`, holds for all
/// its tests. ``conninfo`` is the connection string.
package struct TemporaryDatabase: TestTrait, SuiteTrait, TestScoping {
    /// The environment variable with the connection string of a running private server, whose user may create databases.
    package static let variable = "STORELEDGER_TEST_POSTGRES"

    @TaskLocal private static var current: String?

    package let isRecursive = true

    /// The connection string of this test's database; a URL when the server's connection string is a URL.
    ///
    /// - Throws: ``TemporaryDatabaseError`` in a test without the trait.
    package static var conninfo: String {
        get throws {
            guard let current else { throw TemporaryDatabaseError.noTrait }
            return current
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
        let name = "test_" + UUID().uuidString.lowercased().replacing("-", with: "_")
        try await server.pool.withConnection { try $0.script("CREATE DATABASE \(try quotedIdentifier(name))") }
        let outcome: Result<Void, any Error>
        do {
            try await Self.$current.withValue(database(name, at: server.conninfo)) { try await function() }
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        try await server.pool.withConnection {
            try $0.script("DROP DATABASE \(try quotedIdentifier(name)) WITH (FORCE)")
        }
        try outcome.get()
    }

    private struct Server: Sendable {
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

extension Trait where Self == TemporaryDatabase {
    /// A new, empty database for each test.
    package static var temporaryDatabase: Self { TemporaryDatabase() }
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
