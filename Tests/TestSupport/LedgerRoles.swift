import FoundationEssentials
import Postgres

/// The roles of `sql/roles.sql`, with a prefix per test, because all databases of a server share roles.
package struct LedgerRoles: Sendable {
    package static let words = [
        "owner", "migrator", "loader", "exporter", "eraser", "actor", "approver", "receiver", "analyst",
    ]

    package let prefix: String
    private let conninfo: String
    private let schema: String
    /// Who runs the script; `nil` for the superuser of the server.
    private var administrator: String?

    /// Creates the roles with the script, runs `body`, and drops the roles with everything they own.
    package static func with<Result>(
        schema: String = "appstore",
        administrator: String? = nil,
        _ body: (LedgerRoles) async throws -> Result
    ) async throws -> Result {
        let name = "r" + UUID().uuidString.prefix(8).lowercased()
        let conninfo = try TemporaryDatabase.conninfo
        let roles = LedgerRoles(prefix: name, conninfo: conninfo, schema: schema, administrator: administrator)
        do {
            try await roles.apply()
            let result = try await body(roles)
            try await roles.drop()
            return result
        } catch {
            try await roles.drop()
            throw error
        }
    }

    /// Creates the roles in a database of a test's own server, which ends with the test.
    package static func applied(to conninfo: String) async throws -> LedgerRoles {
        let roles = LedgerRoles(prefix: "storeledger", conninfo: conninfo, schema: "appstore")
        try await roles.apply()
        return roles
    }

    /// Runs `sql/roles.sql`, as an operator would.
    package func apply() async throws {
        let address = administrator.map { Psql.conninfo(conninfo, role: $0) } ?? conninfo
        let outcome = try await Psql(conninfo: address).script(
            "roles.sql",
            ["schema": schema, "prefix": prefix, "exclusive": "1"]
        )
        // The script must print nothing, because an operator reads its output.
        guard outcome.code == 0, outcome.errors.isEmpty, outcome.output.isEmpty else {
            throw Failed(code: outcome.code, words: outcome.output + outcome.errors)
        }
    }

    /// The name of a role.
    package func name(_ word: String) -> String { "\(prefix)_\(word)" }

    /// The connection string of the test's database for a role.
    package func conninfo(_ word: String) -> String { Psql.conninfo(conninfo, role: name(word)) }

    private func drop() async throws {
        let names = Self.words.map(name)
        try await TemporaryDatabase.pool(size: 1).withConnection { connection in
            for name in names {
                let quoted = try quotedIdentifier(name)
                let found = try connection.run("SELECT FROM pg_roles WHERE rolname = $1", [.text(name)])
                if found.count == 1 { try connection.script("DROP OWNED BY \(quoted) CASCADE; DROP ROLE \(quoted)") }
            }
        }
    }

    package struct Failed: Error {
        let code: Int32
        let words: String
    }
}
