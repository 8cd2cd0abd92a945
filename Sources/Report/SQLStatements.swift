import Ledger
import Postgres

/// The statements in `Sources/Report/SQL`: one file for each question, and their parts.
extension SQLStatement {
    /// The statement of a question.
    ///
    /// - Parameters:
    ///   - file: The question.
    ///   - segment: The column for which `:segment` stands in it.
    /// - Returns: The question in the frame of `asked.sql`.
    static func question(_ file: [UInt8], segment: String) -> SQLStatement {
        let own = ["question": file, "segment": Array(segment.utf8)]
        return SQLStatement(file: PackageResources.asked_sql, parts: parts.merging(own) { $1 })
    }

    private static let parts: [String: [UInt8]] = [
        // Its parameters have the numbers that `asked.sql` gives them.
        "apps_of_rejects": Array(Ledger.appsOfRejects(apps: "masked_apps", runs: "masked_runs").utf8),
        "movement_sums": PackageResources.movement_sums_sql,
        "refund_sums": PackageResources.refund_sums_sql,
        "since_day": PackageResources.since_day_sql,
        "since_month": PackageResources.since_month_sql,
    ]
}
