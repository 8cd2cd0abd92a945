import JobSyntax

/// The database a job writes to.
package struct PostgresOutput: Equatable, Sendable {
    package let url: DatabaseURL
    /// `[a-z_][a-z0-9_]{0,62}`, not beginning with `pg_`.
    package let schema: String
    /// The most sessions that a process opens for its runs, of all apps together, in ``possibleConnections``.
    package let connections: Int

    /// - Parameters:
    ///   - schema: `nil` for ``defaultSchema``.
    ///   - connections: `nil` for ``defaultConnections``.
    package init(url: DatabaseURL, schema: String? = nil, connections: Int? = nil) {
        self.url = url
        self.schema = schema ?? Self.defaultSchema
        self.connections = connections ?? Self.defaultConnections
    }

    /// The sessions of a job that names no number.
    package static let defaultConnections = 30

    /// At least one session for pages, one for leases, and one that finds out who holds a lock.
    package static let possibleConnections: ClosedRange<Int64> = 3...1_000

    /// Whether both are the same ledger, by their text.
    package func isSameLedger(as other: PostgresOutput) -> Bool { url == other.url && schema == other.schema }

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
