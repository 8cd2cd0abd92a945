import Basics
import LedgerSchema

/// A format of published files; the raw value is the key in the job file and the extension of the files.
package enum FileFormat: String, CaseIterable, Sendable {
    case csv
    case parquet

    /// The name in messages.
    package var title: String {
        switch self {
        case .csv: "CSV"
        case .parquet: "Parquet"
        }
    }
}

/// The files that a job publishes in one format.
package struct FileOutput: Equatable, Sendable {
    package let format: FileFormat
    /// A folder, absolute, without `..`, and not a system directory; or `s3://bucket/prefix` (``Basics/BucketURL``).
    package let directory: String
    /// At least one table of ``knownTables``, each once.
    package let tables: [String]
    /// Whether each publication adds a part with the changes instead of writing every row again.
    package let changes: Bool

    /// - Parameters:
    ///   - format: The format of every file.
    ///   - directory: See ``place(_:absolute:)``.
    ///   - tables: At least one of ``knownTables``, each once; with `changes`, of ``tablesWithChanges``.
    package init(
        _ format: FileFormat,
        directory: String,
        tables: [String] = Self.defaultTables,
        changes: Bool = false
    ) {
        self.format = format
        self.directory = directory
        self.tables = tables
        self.changes = changes
    }

    /// The same files, published as parts with the changes.
    package var withChanges: FileOutput { FileOutput(format, directory: directory, tables: tables, changes: true) }

    /// What a directory must be, for messages; ``isOwnDirectory(_:absolute:)`` checks it.
    package static let directoryRule =
        "it must be a directory of your own, not below a system folder such as /etc, and without .. in its path"

    /// The place that a text names.
    ///
    /// - Parameters:
    ///   - written: What the user wrote.
    ///   - absolute: The absolute path, if it is a path.
    /// - Returns: The place for ``directory``; `nil` if ``rule(for:)`` forbids it.
    package static func place(_ written: String, absolute: String) -> String? {
        guard urlScheme(of: written) == nil else { return BucketURL(written)?.text }
        return isOwnDirectory(written, absolute: absolute) ? absolute : nil
    }

    /// What a directory must be, for messages about a text.
    package static func rule(for written: String) -> String {
        urlScheme(of: written) == nil ? directoryRule : BucketURL.rule
    }

    /// Whether a directory is neither the root nor a system directory, where an exported file could do harm.
    ///
    /// - Parameters:
    ///   - written: The path as the user wrote it; it must not contain `..`.
    ///   - absolute: The absolute path.
    /// - Returns: Whether files may be published there.
    package static func isOwnDirectory(_ written: String, absolute: String) -> Bool {
        let systemDirectories = ["bin", "boot", "dev", "etc", "lib", "lib64", "proc", "sbin", "sys"]
        guard !written.isEmpty, let first = absolute.split(separator: "/").first.map(String.init) else { return false }
        return !written.split(separator: "/").contains("..") && !systemDirectories.contains(first)
    }

    /// The name of a table's file.
    package func fileName(of table: String) -> String { "\(table).\(format.rawValue)" }

    /// Every file written into ``directory``.
    package var fileNames: [String] { tables.map(fileName) + ["manifest.json"] }

    /// The published tables of a job that names none.
    package static let defaultTables = ["transactions", "refunds", "notifications"]

    /// Every table that can be published.
    package static let knownTables = ["apps"] + tablesWithChanges + others

    /// Every table whose changes can be published: the records of customers.
    ///
    /// Triggers log the changes of the same tables (sql/functions/change_exports.sql).
    package static let tablesWithChanges = records + Tables.answers.map(\.name) + children

    private static let records = [
        "transactions", "refunds", "notifications", "notification_send_attempts", "renewals",
        "app_transactions",
    ]

    private static let children = ["advanced_commerce_items", "advanced_commerce_refunds", "seat_price_tiers"]

    private static let others = [
        "coverage_gaps", "schema_drift", "field_issues",
        "rejected_records", "signed_payloads", "crawl_items", "runs", "rate_scopes", "rate_buckets",
    ]
}
