/// The database a job writes to.
package struct PostgresOutput: Equatable, Sendable {
    package let url: DatabaseURL
    /// `[a-z_][a-z0-9_]{0,62}`, not beginning with `pg_`.
    package let schema: String

    /// - Parameter schema: `nil` for ``defaultSchema``.
    package init(url: DatabaseURL, schema: String? = nil) {
        self.url = url
        self.schema = schema ?? Self.defaultSchema
    }

    /// The schema of a job that names none.
    package static let defaultSchema = "appstore"

    /// The names that ``isSchemaName(_:)`` accepts, as the rest of a sentence after "it must be".
    package static let schemaNameRule = "1 to 63 of a-z, 0-9 and _, not begin with a digit and not with pg_"

    /// Whether a schema may have this name.
    ///
    /// The name must not need quotation marks or be reserved by PostgreSQL.
    package static func isSchemaName(_ text: String) -> Bool {
        let bytes = text.utf8
        guard (1...63).contains(bytes.count), !text.hasPrefix("pg_"), let first = bytes.first, !isDigit(first) else {
            return false
        }
        return bytes.allSatisfy { isLowercaseOrDigit($0) || $0 == UInt8(ascii: "_") }
    }
}
