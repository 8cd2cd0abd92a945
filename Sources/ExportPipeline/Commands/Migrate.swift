package import Ledger

extension ExportPipeline {
    /// Brings the schema up to date, and fills the materialised views that are new; see ``Ledger/Migrator/migrate()``.
    package func migrate() async throws -> Migrator.Report {
        let directory = try SQLDirectory.find()
        try await ledger.connect()
        let report = try await Migrator(ledger: ledger, directory: directory).migrate()
        // Not in the migration's transaction: of a large ledger this takes minutes, and nobody has to wait for it.
        _ = try await ledger.refreshViews(onlyEmpty: true)
        return report
    }
}
