package import Ledger

extension Pipeline {
    /// Updates the schema and fills new materialised views; see ``Ledger/Migrator/migrate()``.
    ///
    /// - Returns: The changes, and the materialised views that were filled.
    /// - Throws: Errors that ``Failure/init(_:)`` explains.
    package func migrate() async throws -> (changes: Migrator.Report, filled: [RefreshedView]) {
        let directory = try SQLDirectory.find()
        try await ledger.connect()
        let report = try await Migrator(ledger: ledger, directory: directory).migrate()
        // Outside the migration's transaction, because it takes minutes for a large ledger and would
        // block other sessions.
        return (report, try await ledger.refreshViews(onlyEmpty: true))
    }
}
