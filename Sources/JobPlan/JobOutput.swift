import LedgerSchema

/// The database a job writes to.
package struct PostgresOutput: Equatable, Sendable {
    package let url: DatabaseURL
    /// `[a-z_][a-z0-9_]{0,62}`, not beginning with `pg_`.
    package let schema: String

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

/// The CSV files a job publishes.
package struct CSVOutput: Equatable, Sendable {
    /// Absolute, without `..`, and not a system directory.
    package let directory: String
    /// At least one table of ``knownTables``, each once.
    package let tables: [String]

    /// - Parameters:
    ///   - directory: See ``isOwnDirectory(_:absolute:)``.
    ///   - tables: At least one of ``knownTables``, each once.
    package init(directory: String, tables: [String] = Self.defaultTables) {
        self.directory = directory
        self.tables = tables
    }

    /// Whether a directory is neither the root nor a system directory, where an exported file could do harm.
    ///
    /// - Parameters:
    ///   - written: The path as the user wrote it; it must not contain `..`.
    ///   - absolute: The absolute path.
    /// - Returns: Whether CSV files may be written there.
    package static func isOwnDirectory(_ written: String, absolute: String) -> Bool {
        let systemDirectories = ["bin", "boot", "dev", "etc", "lib", "lib64", "proc", "sbin", "sys"]
        guard !written.isEmpty, let first = absolute.split(separator: "/").first.map(String.init) else { return false }
        return !written.split(separator: "/").contains("..") && !systemDirectories.contains(first)
    }

    /// Every file written into ``directory``.
    package var fileNames: [String] { tables.map { "\($0).csv" } + ["manifest.json"] }

    /// The published tables of a job that names none.
    package static let defaultTables = ["transactions", "refunds", "notifications"]

    /// Every table that can be published as CSV.
    package static let knownTables = records + Tables.answers.map(\.name) + others

    private static let records = [
        "apps", "transactions", "refunds", "notifications", "notification_send_attempts", "renewals",
        "app_transactions",
    ]

    private static let others = [
        "advanced_commerce_items", "advanced_commerce_refunds", "coverage_gaps", "schema_drift", "field_issues",
        "rejected_records", "signed_payloads", "crawl_items", "runs", "rate_scopes", "rate_buckets",
    ]
}
