package import Ledger

extension Pipeline {
    /// Updates the schema, and refreshes the views if their definitions changed; see
    /// ``Ledger/Migrator/migrate(partitions:)``.
    ///
    /// - Parameter partitions: How many hash partitions the large tables of an empty ledger get; `nil` for as they are.
    /// - Returns: The changes, and the refresh; `nil` if there was none.
    package func migrate(partitions: Int? = nil) async throws -> (changes: Migrator.Report, refresh: RefreshReport?) {
        try await ledger.migrateAndRefresh(partitions: partitions)
    }
}

extension ActionPipeline {
    /// Updates the schema, as ``Pipeline/migrate(partitions:)`` does.
    package func migrate(partitions: Int? = nil) async throws -> (changes: Migrator.Report, refresh: RefreshReport?) {
        try await ledger.migrateAndRefresh(partitions: partitions)
    }
}

extension ReceiverPipeline {
    /// Updates the schema, as ``Pipeline/migrate(partitions:)`` does.
    package func migrate(partitions: Int? = nil) async throws -> (changes: Migrator.Report, refresh: RefreshReport?) {
        try await ledger.migrateAndRefresh(partitions: partitions)
    }
}

extension Ledger {
    fileprivate func migrateAndRefresh(
        partitions: Int?
    ) async throws -> (changes: Migrator.Report, refresh: RefreshReport?) {
        let directory = try SQLDirectory.find()
        try await connect()
        try await requirePrimary()
        let report = try await Migrator(ledger: self, directory: directory).migrate(partitions: partitions)
        // Outside the migration's transaction, because it takes minutes for a large ledger and would
        // block other sessions.
        return (report, try await recordingFailure { try await refreshRedefinedViews() })
    }
}
