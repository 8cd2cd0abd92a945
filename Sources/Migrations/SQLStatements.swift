import Postgres

/// The statements in `Sources/Migrations/SQL`; each file says what it does and what its parameters mean.
extension SQLStatement {
    static let actAsOwner = SQLStatement(file: PackageResources.act_as_owner_sql)
    static let grantNewFunctions = SQLStatement(file: PackageResources.grant_new_functions_sql)
    static let partitionTable = SQLStatement(file: PackageResources.partition_table_sql)
    static let partitionTriggers = SQLStatement(file: PackageResources.partition_triggers_sql)
    static let readerStatements = SQLStatement(file: PackageResources.reader_statements_sql)

    static let ofMigrations = [
        ("act_as_owner", actAsOwner),
        ("grant_new_functions", grantNewFunctions),
        ("partition_table", partitionTable),
        ("partition_triggers", partitionTriggers),
        ("reader_statements", readerStatements),
    ]
}
