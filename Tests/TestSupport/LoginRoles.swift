import FoundationEssentials
import Postgres

/// Roles of one test, in addition to the roles of `sql/roles.sql`.
package enum LoginRoles {
    /// Gives `body` names that no other test has, and afterwards drops the roles that have them, with everything they own.
    ///
    /// The test's database belongs to the superuser again before that.
    package static func with(_ words: String..., body: ([String]) async throws -> Void) async throws {
        let suffix = UUID().uuidString.prefix(8).lowercased()
        let names = words.map { "\($0)_\(suffix)" }
        do {
            try await body(names)
            try await drop(names)
        } catch {
            try await drop(names)
            throw error
        }
    }

    private static func drop(_ names: [String]) async throws {
        try await TemporaryDatabase.pool(size: 1).withConnection { connection in
            let database = try connection.run("SELECT quote_ident(current_database()) AS name")[0].text("name")
            try connection.script("ALTER DATABASE \(database) OWNER TO CURRENT_USER")
            for name in names {
                let quoted = try quotedIdentifier(name)
                let found = try connection.run("SELECT FROM pg_roles WHERE rolname = $1", [.text(name)])
                if found.count == 1 { try connection.script("DROP OWNED BY \(quoted) CASCADE; DROP ROLE \(quoted)") }
            }
        }
    }

    /// Creates a role that owns the test's database.
    package static func create(_ name: String, attributes: String = "") async throws {
        try await TemporaryDatabase.pool(size: 1).withConnection { connection in
            let database = try connection.run("SELECT quote_ident(current_database()) AS name")[0].text("name")
            let quoted = try quotedIdentifier(name)
            try connection.script(
                "CREATE ROLE \(quoted) LOGIN \(attributes); ALTER DATABASE \(database) OWNER TO \(quoted)"
            )
        }
    }
}
