package import Ledger

extension Pipeline {
    /// Updates the schema, and refreshes the views if their definitions changed; see ``Ledger/Migrator/migrate()``.
    ///
    /// - Returns: The changes, and the refresh; `nil` if there was none.
    /// - Throws: Errors that ``Failure/init(_:)`` explains.
    package func migrate() async throws -> (changes: Migrator.Report, refresh: RefreshReport?) {
        try await ledger.migrateAndRefresh()
    }
}

extension ActionPipeline {
    /// Updates the schema, as ``Pipeline/migrate()`` does.
    package func migrate() async throws -> (changes: Migrator.Report, refresh: RefreshReport?) {
        try await ledger.migrateAndRefresh()
    }
}

extension Ledger {
    fileprivate func migrateAndRefresh() async throws -> (changes: Migrator.Report, refresh: RefreshReport?) {
        let directory = try SQLDirectory.find()
        try await connect()
        let report = try await Migrator(ledger: self, directory: directory).migrate()
        // Outside the migration's transaction, because it takes minutes for a large ledger and would
        // block other sessions.
        return (report, try await refreshRedefinedViews())
    }
}
