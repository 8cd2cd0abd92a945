import Postgres

/// The statements in `Sources/ExchangeRates/SQL`; each file says what it does and what its parameters mean.
extension SQLStatement {
    static let importRates = SQLStatement(file: PackageResources.import_rates_sql)
    static let listMissingRates = SQLStatement(file: PackageResources.list_missing_rates_sql)
    static let listRates = SQLStatement(file: PackageResources.list_rates_sql)
}
