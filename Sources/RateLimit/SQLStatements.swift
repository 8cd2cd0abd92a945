import Postgres

/// The statements in `Sources/RateLimit/SQL`; each file says what it does and what its parameters mean.
extension SQLStatement {
    static let closeEndpoint = SQLStatement(file: PackageResources.close_endpoint_sql)
    static let takeRequests = SQLStatement(file: PackageResources.take_requests_sql)
}
