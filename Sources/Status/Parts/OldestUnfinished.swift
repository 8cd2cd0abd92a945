import Ledger
import Postgres

extension JobStatus {
    /// The unfinished item of the last run whose history is complete until the earliest moment.
    struct OldestUnfinished: StatusPart {
        let stream: String
        let item: String
        let state: String
        /// Until when its history is complete; `nil` if it never was.
        let completeUntil: String?
        /// When a worker may take it, or its current lease expires.
        let claimableAt: String
        /// Why it was postponed.
        let message: String?

        static let key: String? = "oldestUnfinished"
        static let words: KeyValuePairs = ["oldestUnfinished": "oldest unfinished item"]
        static let tables = ["crawl_items"]

        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) throws -> Self? {
            try connection.value(
                """
                SELECT stream, item_key AS item, state, \(Ledger.moment("complete_until")) AS complete_until,
                       \(Ledger.moment("claimable_at")) AS claimable_at, error_message AS message
                  FROM crawl_items i
                 WHERE app_id = $1 AND job = $2 AND claimable_at IS NOT NULL
                   AND run_id = (SELECT max(run_id) FROM runs WHERE app_id = $1 AND job = $2)
                 ORDER BY i.complete_until NULLS FIRST, i.claimable_at, item_key LIMIT 1
                """,
                context.jobKey
            )
        }

        func lines(in status: JobStatus) -> [String] {
            let until = completeUntil.map { "complete until \($0)" } ?? "not complete yet"
            let why = message.map { ": \($0)" } ?? ""
            let what =
                state == "leased"
                ? "in progress; if its process stops, another one takes it after \(claimableAt)"
                : "waiting, can be requested from \(claimableAt) on"
            return ["  oldest unfinished: \(stream) \(itemName(item)), \(until), \(what)\(why)"]
        }
    }
}
