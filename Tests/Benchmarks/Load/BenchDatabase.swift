import ArgumentParser
import FoundationEssentials
import Glibc
import Ledger
import Migrations
import Postgres

/// Where a benchmark's databases are made.
struct DatabaseOptions: ParsableArguments {
    @Option(help: "A PostgreSQL server on this machine where databases may be made; default: $DATABASE_URL.")
    var postgres: String?

    /// Runs `body` on a new database with the ledger's schema, and drops it afterwards.
    func withDatabase<Result>(_ body: (BenchDatabase) async throws -> Result) async throws -> Result {
        guard let url = postgres ?? ProcessInfo.processInfo.environment["DATABASE_URL"] else {
            throw ValidationError("name a PostgreSQL server with --postgres or DATABASE_URL.")
        }
        let name = "ledger_bench_\(getpid())"
        let server = PostgresPool(conninfo: ConnectionString(url), size: 1, patience: .seconds(20))
        try await server.withConnection { connection in
            try connection.script("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
            try connection.script("CREATE DATABASE \(name)")
        }
        do {
            let result = try await body(BenchDatabase(url: replacingDatabase(of: url, with: name)))
            try await server.withConnection { try $0.script("DROP DATABASE \(name) WITH (FORCE)") }
            return result
        } catch {
            try await server.withConnection { try $0.script("DROP DATABASE \(name) WITH (FORCE)") }
            throw error
        }
    }

    private func replacingDatabase(of url: String, with name: String) -> String {
        guard let scheme = url.firstRange(of: "://") else { return "\(url) dbname=\(name)" }
        let authority = url[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }
        let query = url[authority.endIndex...].drop { $0 != "?" }
        return "\(url[..<authority.endIndex])/\(name)\(query)"
    }
}

/// An empty ledger of a benchmark's own.
struct BenchDatabase: Sendable {
    let url: String
    let ledger: Ledger
    let meter: CostMeter

    init(url: String) async throws {
        self.url = url
        ledger = Ledger(conninfo: ConnectionString(url), schema: "appstore", sessions: 4)
        meter = try await CostMeter(PostgresPool(conninfo: ConnectionString(url), size: 1, patience: .seconds(20)))
        let directory = try SQLDirectory.find(executable: #filePath)
        _ = try await Migrator(ledger: ledger, directory: directory).migrate()
    }

    func script(_ text: String) async throws {
        try await ledger.pages.pool.withConnection { try $0.script(text) }
    }

    func number(_ expression: String) async throws -> Double {
        let text = try await ledger.pages.pool.withConnection {
            try $0.run("SELECT (\(expression))::text AS value")[0].text("value")
        }
        return Double(text) ?? 0
    }
}
