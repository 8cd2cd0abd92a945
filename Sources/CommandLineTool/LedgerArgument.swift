import ArgumentParser
import Basics
import FoundationEssentials
import JobFiles
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

    /// The ledger's address, from the job file if one is given.
    func address() throws -> LedgerAddress {
        guard let path else { return try LedgerAddress(PostgresOutput(url: try databaseURL(), schema: schema)) }
        return try LedgerAddress(try JobArgument(path: path).loadEach(.crawl)[0].postgres)
    }

    private func databaseURL() throws -> DatabaseURL {
        if let database, !database.isEmpty { return DatabaseURL(database) }
        return try environmentDatabaseURL(
            orElse: "Name a JOB, or give the ledger's database with --database or in DATABASE_URL."
        )
    }
}

extension LedgerAddress {
    /// The address of a command's ledger.
    ///
    /// How long the command waits for PostgreSQL is `STORELEDGER_DATABASE_DEADLINE` in the environment, in seconds, 60 by
    /// default.
    ///
    /// - Parameters:
    ///   - job: The name of the job, for `application_name`.
    ///   - waiting: Called while no session can be opened, or a session waits for a lock.
    /// - Throws: `ValidationError` for another value in the environment.
    init(
        _ database: PostgresOutput,
        job: String? = nil,
        waiting: @escaping @Sendable (DatabaseWait) -> Void = reportDatabaseWait
    ) throws {
        let deadline = ProcessInfo.processInfo.environment["STORELEDGER_DATABASE_DEADLINE"]
        guard let seconds = Int(deadline ?? "60"), (1...86_400).contains(seconds) else {
            throw ValidationError("STORELEDGER_DATABASE_DEADLINE must be whole seconds from 1 to 86400.")
        }
        self.init(database: database)
        applicationName = StoreLedger.applicationName(job: job)
        self.deadline = .seconds(seconds)
        self.waiting = waiting
    }

    /// The address of a job's ledger.
    init(
        of job: some JobDescription,
        waiting: @escaping @Sendable (DatabaseWait) -> Void = reportDatabaseWait
    ) throws {
        try self.init(job.postgres, job: job.name, waiting: waiting)
    }
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
