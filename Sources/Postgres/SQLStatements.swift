/// The statements in `Sources/Postgres/SQL`; each file says what it does and what its parameters mean.
extension SQLStatement {
    static let blockingSessions = SQLStatement(file: PackageResources.blocking_sessions_sql)
    static let lockHolders = SQLStatement(file: PackageResources.lock_holders_sql)
}
