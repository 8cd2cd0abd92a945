package import Ledger

extension Pipeline {
    /// Brings the schema up to date, and fills the materialised views that are new; see ``Ledger/Migrator/migrate()``.
    ///
    /// - Returns: What changed, and the materialised views that were filled.
    /// - Throws: What ``Failure/init(_:)`` explains.
    package func migrate() async throws -> (changes: Migrator.Report, filled: [RefreshedView]) {
        let directory = try SQLDirectory.find()
        try await ledger.connect()
        let report = try await Migrator(ledger: ledger, directory: directory).migrate()
        // Not in the migration's transaction: with a large ledger this takes minutes, and no session has to wait for it.
        return (report, try await ledger.refreshViews(onlyEmpty: true))
    }
}
