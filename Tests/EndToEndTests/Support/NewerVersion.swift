import FoundationEssentials
import TestSupport
import Testing

/// A `storeledger` with one migration more than the others.
struct NewerVersion {
    static let migration = "9999_test.sql"

    /// The path of the executable.
    let storeledger: String

    /// Installs it in a separate directory during `body`.
    ///
    /// - Parameters:
    ///   - sql: The further migration. The table `migrated` says when it ran.
    ///   - body: Gets the version.
    /// - Returns: What `body` returns.
    /// - Throws: The error of `body`.
    static func with<Result>(
        _ sql: String = "",
        _ body: (NewerVersion) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryDirectory { directory in
            let files = FileManager.default
            try files.createDirectory(atPath: directory + "/bin", withIntermediateDirectories: true)
            // A copy, because a program finds its SQL files from its own place. Another process makes it: a file that
            // this one writes stays open in a child that another test starts meanwhile, and cannot be executed until
            // that child has replaced itself.
            let program = directory + "/bin/storeledger"
            try await withChildProcess("/bin/cp", [Executables.storeledger, program], environment: [:]) {
                try #require(await $0.wait() == 0)
            }
            try files.copyItem(atPath: Executables.checkout + "/sql", toPath: directory + "/sql")
            let text = "CREATE TABLE migrated AS SELECT clock_timestamp() AS at; \(sql)"
            try Data(text.utf8).write(to: URL(filePath: "\(directory)/sql/migrations/\(migration)"))
            return try await body(NewerVersion(storeledger: program))
        }
    }

    /// Migrates the schema of a job.
    func migrate(_ job: String, environment: [String: String]) async throws -> Stage.Outcome {
        try await withChildProcess(storeledger, ["migrate", job], environment: environment) { process in
            let code = await process.wait()
            return Stage.Outcome(code: code, output: process.output, errors: process.errors)
        }
    }
}
