import Postgres

/// The statements in `Sources/Status/SQL`; each file says what it does and what its parameters mean.
extension SQLStatement {
    static let actionJobs = SQLStatement(file: PackageResources.action_jobs_sql)
    static let crawlJobs = SQLStatement(file: PackageResources.crawl_jobs_sql)
    static let dataDictionary = SQLStatement(file: PackageResources.data_dictionary_sql)
    static let dismissIdentities = SQLStatement(file: PackageResources.dismiss_identities_sql)
    static let dismissTexts = SQLStatement(file: PackageResources.dismiss_texts_sql)
    static let failedItems = SQLStatement(file: PackageResources.failed_items_sql)
    static let itemCoverage = SQLStatement(file: PackageResources.item_coverage_sql)
    static let openRejects = SQLStatement(file: PackageResources.open_rejects_sql, parts: partsOfRejects(""))
    static let openRejectsWithText = SQLStatement(
        file: PackageResources.open_rejects_sql,
        parts: partsOfRejects(", encode(r.sha256, 'hex') AS sha256, r.raw")
    )
    static let receiverStatus = SQLStatement(file: PackageResources.receiver_status_sql)
    static let storage = SQLStatement(file: PackageResources.storage_sql)
    static let streamCoverage = SQLStatement(file: PackageResources.stream_coverage_sql)

    private static func partsOfRejects(_ textColumns: String) -> [String: [UInt8]] {
        [
            "apps_of_rejects": PackageResources.apps_of_rejects_sql,
            "apps": Array("apps".utf8),
            "runs": Array("runs".utf8),
            "text_columns": Array(textColumns.utf8),
        ]
    }

    static let ofStatus = [
        ("action_jobs", actionJobs),
        ("crawl_jobs", crawlJobs),
        ("data_dictionary", dataDictionary),
        ("dismiss_identities", dismissIdentities),
        ("dismiss_texts", dismissTexts),
        ("failed_items", failedItems),
        ("item_coverage", itemCoverage),
        ("open_rejects", openRejects),
        ("open_rejects_with_text", openRejectsWithText),
        ("receiver_status", receiverStatus),
        ("storage", storage),
        ("stream_coverage", streamCoverage),
    ]
}
