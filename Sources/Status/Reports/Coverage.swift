import AppStoreModel
import Ledger
package import LedgerSchema
import Postgres
import Streams

/// Until when one item of a job is complete; its JSON form is stable and documented in `docs/reference/json.md`.
package struct ItemCoverage: Codable, Sendable, Equatable {
    package let stream: String
    /// A transaction ID, or a window of the whole app's notifications.
    package let item: String
    package let state: String
    /// The last requested window, for notifications.
    ///
    /// ISO 8601 UTC.
    package let windowStart: String?
    package let windowEnd: String?
    /// All of Apple's records up to this moment are in the ledger; `nil` if no crawl of the item was ever finished.
    package let completeUntil: String?
    /// Periods that Apple no longer serves, as `from/to`.
    package let gaps: [String]
    /// What Apple leaves out of its answers for the item, such as what a deprecated version does not return; `nil` if the
    /// answers are complete.
    package let omits: [String]?
}

extension Ledger {
    /// Reads the coverage of every item of a job, a thousand at a time.
    ///
    /// `line` is called for each item, by stream and key, until it returns false.
    package func coverage(of job: String, app: AppID, _ line: @escaping @Sendable (ItemCoverage) -> Bool) async throws {
        var last: (stream: String, item: String) = ("", "")
        while true {
            let (stream, item) = last
            let batch = try await transaction { connection in
                try connection.run(
                    .itemCoverage,
                    [
                        "app": .integer(app.rawValue), "job": .text(job), "stream": .text(stream),
                        "item_key": .text(item),
                    ]
                ).map { row in
                    ItemCoverage(
                        stream: try row.text("stream"),
                        item: try row.text("item_key"),
                        state: try row.text("state"),
                        windowStart: try row.textOrNil("window_start"),
                        windowEnd: try row.textOrNil("window_end"),
                        completeUntil: try row.textOrNil("complete_until"),
                        gaps: try row.textArray("gaps"),
                        omits: Self.omissions(of: try row.text("stream"), query: try row.text("fingerprint"))
                    )
                }
            }
            guard batch.allSatisfy(line) else { return }
            guard let end = batch.last else { return }
            last = (end.stream, end.item)
        }
    }

    /// What Apple leaves out of its answers to the query of an item; `nil` if nothing.
    static func omissions(of stream: String, query: String) -> [String]? {
        let omissions = AllStreams.type(of: StreamName(stream))?.omissions(of: query) ?? []
        return omissions.isEmpty ? nil : omissions
    }
}
