import Ledger
package import LedgerSchema
import Postgres

/// Where the customers of an app came from: its notifications, and the lists of its runs.
///
/// Customers without a notification come only from a list. The ledger cannot know whether a list was complete. A list with
/// fewer IDs than the customers that notifications named was not.
package struct CustomerSources: Sendable, Equatable {
    /// The most customers that notifications named in one run.
    package let named: Int64
    /// The number of IDs of the largest list of a complete run; 0 without such a run.
    package let largestList: Int64

    /// ``largestList`` in words, such as `1 ID`.
    package var largestListInWords: String { largestList == 1 ? "1 ID" : "\(largestList) IDs" }

    package init(named: Int64, largestList: Int64) {
        self.named = named
        self.largestList = largestList
    }

    /// Whether customers without a notification are certainly missing: no list was as long as the customers that
    /// notifications named.
    package var lacksList: Bool { largestList == 0 || largestList < named }
}

extension Ledger {
    /// Where the customers of an app came from; the analyst role can read it.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    package func customerSources(of app: AppID) async throws -> CustomerSources {
        try await transaction { connection in
            try Self.customerSources(.integer(app.rawValue), Readable(connection), connection)
        }
    }

    /// Where the customers of an app came from.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    static func customerSources(
        _ app: Cell,
        _ readable: Readable,
        _ connection: borrowing PostgresConnection
    ) throws -> CustomerSources {
        let row = try connection.run(
            """
            SELECT coalesce(max(listed_ids) FILTER (WHERE customers_since IS NOT NULL), 0) AS named,
                   coalesce(max(listed_ids) FILTER (WHERE customers_since IS NULL AND NOT is_retry AND finished_at IS NOT NULL
                                                      AND exit_code IN (0, 2)), 0) AS largest_list
              FROM \(readable.first(of: "runs", "masked_runs")) WHERE app_id = $1
            """,
            [app]
        )[0]
        return CustomerSources(named: try row.int64("named"), largestList: try row.int64("largest_list"))
    }
}
