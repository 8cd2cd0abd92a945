import ArgumentParser
import JobPlan
import Ledger
import Pipeline

/// The ledger of a command without a job file.
struct LedgerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The ledger's schema (default: appstore).", valueName: "NAME"))
    var schema: String?

    func validate() throws {
        try checkSchema(schema, job: nil)
        _ = try url()
    }

    /// The ledger, not yet connected.
    func ledger() throws -> Ledger {
        Pipeline.ledgerToRead(
            at: try url(),
            schema: schema ?? PostgresOutput.defaultSchema,
            applicationName: StoreLedger.applicationName(),
            databaseDeadline: try databaseDeadline()
        )
    }

    private func url() throws -> DatabaseURL {
        try environmentDatabaseURL(orElse: "Set DATABASE_URL to the ledger's database.")
    }
}
