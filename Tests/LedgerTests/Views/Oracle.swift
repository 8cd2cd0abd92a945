import FoundationEssentials
import Ledger
import Postgres

/// A second definition of the views that a refresh counts: each query of the folder `Oracle` computes one from every record.
enum Oracle {
    /// By the name of the view.
    static let queries: [String: String] = {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Oracle").path
        do {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".sql") }
            return Dictionary(
                uniqueKeysWithValues: try names.map { name in
                    (String(name.dropLast(4)), try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8))
                }
            )
        } catch {
            fatalError("the queries in \(folder) cannot be read: \(error)")
        }
    }()

    /// Views that the queries read, and that are computed once for all of them.
    private static let sources = ["subscription_periods", "subscription_months", "current_subscriptions", "purchases"]

    /// The rows that differ between a view and its query.
    ///
    /// - Parameter connection: In a transaction that has refreshed the views, because some rows depend on its time.
    fileprivate static func differences(on connection: borrowing PostgresConnection) throws -> [String] {
        // A session of the ledger plans only look-ups of single rows.
        try connection.script(Ledger.defaultPlanner)
        for source in sources {
            // A query finds the temporary table before the view.
            try connection.script("CREATE TEMP TABLE \(source) ON COMMIT DROP AS TABLE appstore.\(source)")
            try connection.script("ANALYZE \(source)")
        }
        return try queries.sorted { $0.key < $1.key }.flatMap { view, query in
            let names = try connection.run(
                """
                SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS names FROM pg_attribute
                 WHERE attrelid = 'appstore.\(view)'::regclass AND attnum > 0 AND attname <> 'as_of'
                """
            )[0].text("names")
            return try connection.run(
                """
                WITH shown AS MATERIALIZED (SELECT \(names) FROM appstore.\(view)),
                     computed AS MATERIALIZED (SELECT \(names) FROM (\(query)) computed)
                SELECT '\(view) shows ' || to_jsonb(d)::text AS line FROM (TABLE shown EXCEPT ALL TABLE computed) d
                UNION ALL
                SELECT '\(view) lacks ' || to_jsonb(d)::text FROM (TABLE computed EXCEPT ALL TABLE shown) d
                ORDER BY 1
                """
            ).map { try $0.text("line") }
        }
    }
}

extension TestLedger {
    /// Refreshes the views, and compares them with the queries of ``Oracle`` and with a refresh that computes everything.
    ///
    /// - Returns: The differences.
    func differences() async throws -> [String] {
        let found = try await ledger.transaction { connection in
            try connection.script("SELECT count(*) FROM refresh_views()")
            return try Oracle.differences(on: connection)
        }
        return found + (try await ledger.verifyViews().map { "\($0)" })
    }
}
