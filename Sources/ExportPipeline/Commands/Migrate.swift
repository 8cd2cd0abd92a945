package import Ledger

extension ExportPipeline {
    /// Brings the schema up to date; see ``Ledger/Migrator/migrate()``.
    package func migrate() async throws -> Migrator.Report {
        let directory = try SQLDirectory.find()
        try await ledger.connect()
        return try await Migrator(ledger: ledger, directory: directory).migrate()
    }
}
