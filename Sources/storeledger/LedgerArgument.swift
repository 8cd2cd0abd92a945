import ArgumentParser
import FoundationEssentials
import JobPlan

/// The ledger that a command is about which asks nothing of Apple: a job file's, or the one that `DATABASE_URL` names.
struct LedgerArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The job file; without it the ledger of DATABASE_URL.", valueName: "JOB"))
    var path: String?

    @Option(help: ArgumentHelp("Without JOB: the ledger's schema; appstore by default.", valueName: "NAME"))
    var schema: String?

    func validate() throws {
        if path != nil, schema != nil {
            throw ValidationError("--schema goes without JOB: the job file names its own.")
        }
        if let schema, !PostgresOutput.isSchemaName(schema) {
            throw ValidationError("--schema is \(schema); it must be \(PostgresOutput.schemaNameRule).")
        }
        if path == nil { _ = try databaseURL() }
    }

    /// Where the ledger is; a job file is read for it.
    func place() throws -> (url: DatabaseURL, schema: String) {
        guard let path else { return (try databaseURL(), schema ?? PostgresOutput.usualSchema) }
        var job = JobArgument()
        job.path = path
        let output = try job.load().output.postgres
        return (output.url, output.schema)
    }

    private func databaseURL() throws -> DatabaseURL {
        let text = ProcessInfo.processInfo.environment["DATABASE_URL"] ?? ""
        guard !text.isEmpty else {
            throw ValidationError("Name a JOB, or set DATABASE_URL to the ledger's database.")
        }
        return DatabaseURL(text)
    }
}
