import ArgumentParser
import Basics
import FoundationEssentials
import JobPlan
import Pipeline

/// The ledger of a command without requests to Apple: the job file's ledger, or the one of `--database` or `DATABASE_URL`.
struct LedgerArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The job file; without it, the ledger of --database or DATABASE_URL.", valueName: "JOB")
    )
    var path: String?

    @Option(
        help: ArgumentHelp("Without JOB: the ledger's database (default: DATABASE_URL).", valueName: "URL")
    )
    var database: String?

    @Option(help: ArgumentHelp("Without JOB: the ledger's schema (default: appstore).", valueName: "NAME"))
    var schema: String?

    func validate() throws {
        try checkSchema(schema, job: path)
        if path != nil, database != nil {
            throw ValidationError("Use --database only without JOB: the job file has its own.")
        }
        if path == nil { _ = try databaseURL() }
    }

    /// The database URL and schema, from the job file if one is given.
    func place() throws -> (url: DatabaseURL, schema: String) {
        guard let path else { return (try databaseURL(), schema ?? PostgresOutput.defaultSchema) }
        var job = JobArgument()
        job.path = path
        let output = try job.load().output.postgres
        return (output.url, output.schema)
    }

    private func databaseURL() throws -> DatabaseURL {
        if let database, !database.isEmpty { return DatabaseURL(database) }
        return try environmentDatabaseURL(
            orElse: "Name a JOB, or give the ledger's database with --database or in DATABASE_URL."
        )
    }
}

/// The reader of a ledger, not yet connected.
func ledgerReader(at url: DatabaseURL, schema: String) throws -> LedgerReader {
    LedgerReader(
        url: url,
        schema: schema,
        version: storeLedgerVersion,
        applicationName: StoreLedger.applicationName(),
        databaseDeadline: try databaseDeadline(),
        waiting: reportDatabaseWait
    )
}

/// Checks the option `--schema`, which is allowed only without a job file.
func checkSchema(_ schema: String?, job: String?) throws {
    if job != nil, schema != nil {
        throw ValidationError("Use --schema only without JOB: the job file has its own.")
    }
    if let schema, !PostgresOutput.isSchemaName(schema) {
        throw ValidationError("--schema is \(schema); it must be \(PostgresOutput.schemaNameRule).")
    }
}

/// The database in `DATABASE_URL`.
///
/// - Parameter advice: The message if the variable is not set or empty.
/// - Returns: The value of the variable.
/// - Throws: `ValidationError` with `advice`.
func environmentDatabaseURL(orElse advice: String) throws -> DatabaseURL {
    let text = ProcessInfo.processInfo.environment["DATABASE_URL"] ?? ""
    guard !text.isEmpty else { throw ValidationError(advice) }
    return DatabaseURL(text)
}
