import ArgumentParser
import JobFiles
import Ledger
import Pipeline

/// The ledger of a command without a job file.
struct LedgerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The ledger's database (default: DATABASE_URL).", valueName: "URL"))
    var database: String?

    @Option(help: ArgumentHelp("The ledger's schema (default: appstore).", valueName: "NAME"))
    var schema: String?

    func validate() throws {
        try checkSchema(schema, job: nil)
        _ = try url()
    }

    /// The ledger, not yet connected.
    func ledger() throws -> Ledger {
        try LedgerAddress(PostgresOutput(url: try url(), schema: schema)).ledger()
    }

    private func url() throws -> DatabaseURL {
        if let database, !database.isEmpty { return DatabaseURL(database) }
        return try environmentDatabaseURL(
            orElse: "Give the ledger's database with --database or in DATABASE_URL."
        )
    }
}
