import Postgres

/// The statements in `Sources/Publish/SQL`; each file says what it does and what its parameters mean.
extension SQLStatement {
    static let announcePart = SQLStatement(file: PackageResources.announce_part_sql)
    static let confirmPart = SQLStatement(file: PackageResources.confirm_part_sql)
    static let describePart = SQLStatement(file: PackageResources.describe_part_sql)
    static let knownExport = SQLStatement(file: PackageResources.known_export_sql)
    static let primaryKey = SQLStatement(file: PackageResources.primary_key_sql)
    static let startExport = SQLStatement(file: PackageResources.start_export_sql)
}
