import FoundationEssentials

/// psql, as an operator and an analyst use it.
package struct Psql: Sendable {
    package struct Outcome: Sendable {
        package let code: Int32
        package let output: String
        package let errors: String
    }

    /// The connection string, with the role.
    package let conninfo: String

    package init(conninfo: String) { self.conninfo = conninfo }

    /// psql in the test's database.
    ///
    /// - Parameter role: The role that connects.
    package init(role: String) throws {
        self.init(conninfo: Self.conninfo(try TemporaryDatabase.conninfo, role: role))
    }

    /// A connection string with another role.
    package static func conninfo(_ conninfo: String, role: String) -> String {
        // libpq uses the last of two values for one keyword.
        conninfo + (conninfo.contains("://") ? "&" : " ") + "user=\(role)"
    }

    package func run(_ arguments: String...) async throws -> Outcome { try await run(arguments) }

    /// Runs a script of `sql/`, as an operator would.
    package func script(_ name: String, _ variables: KeyValuePairs<String, String>) async throws -> Outcome {
        try await run(
            variables.flatMap { ["-v", "\($0.key)=\($0.value)"] } + ["-f", Executables.checkout + "/sql/" + name]
        )
    }

    private func run(_ arguments: [String]) async throws -> Outcome {
        let environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
        let all = ["psql", "-X", "-q", "-d", conninfo] + arguments
        return try await withChildProcess("/usr/bin/env", all, environment: environment) { process in
            let code = await process.wait()
            return Outcome(code: code, output: process.output, errors: process.errors)
        }
    }
}
