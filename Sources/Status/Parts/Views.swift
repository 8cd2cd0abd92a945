import Ledger
import Postgres

extension JobStatus {
    /// The views that show the last refresh; one refresh is of every app of the ledger.
    package struct Views: StatusPart, Equatable {
        /// The time of the ledger state that the views show; `nil` before the first refresh, or if it has to start over.
        package let refreshedAt: String?
        /// Since when every refresh has failed; `nil` if the last one succeeded.
        package let failedSince: String?
        /// Why the last refresh failed; `nil` if it succeeded, and for a role without the privilege to read it.
        package let message: String?

        static let key: String? = "views"
        static let words: KeyValuePairs = ["views": "age of the views"]
        static let tables = ["view_freshness"]

        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) throws -> Self? {
            try read(context.readable, connection)
        }

        static func read(_ readable: Readable, _ connection: borrowing PostgresConnection) throws -> Self {
            let failure = readable.contains("refresh_state") ? "(SELECT failure FROM refresh_state)" : "NULL::text"
            return try connection.values(
                """
                SELECT \(Ledger.moment("max(refreshed_at)")) AS refreshed_at, \(Ledger.moment("max(failed_since)")) AS failed_since,
                       \(failure) AS message
                  FROM view_freshness
                """
            )[0]
        }

        func lines(in status: JobStatus) -> [String] {
            let age = refreshedAt.map { "as of \($0)" } ?? "not computed yet"
            guard let failedSince else { return ["  views: \(age)"] }
            return [
                "  views: \(age); every refresh since \(failedSince) has failed\(message.map { ": \($0)" } ?? "")",
                "    storeledger refresh JOB refreshes them",
            ]
        }
    }

    package var views: Views? { self[Views.self] }
}

extension Ledger {
    /// Reads how old the views are, and whether they can be refreshed.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    package func viewsStatus() async throws -> JobStatus.Views {
        try await transaction(.readOnlySnapshot) { try JobStatus.Views.read(try Readable($0), $0) }
    }
}
