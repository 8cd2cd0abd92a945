import Ledger
import Postgres

extension JobStatus {
    /// Periods that Apple no longer serves.
    struct Gaps: StatusPart {
        /// At most 20, the earliest first.
        let gaps: [Gap]
        /// When a run last found a gap; `nil` without gaps.
        let newestGapFoundAt: String?

        static let title = "gaps"

        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) throws -> Self? {
            let table = context.readable.first(of: "coverage_gaps", "masked_coverage_gaps")
            let gaps: [Gap] = try connection.values(
                """
                SELECT stream, item_key AS item, \(Ledger.moment("gap_start")) AS "from", \(Ledger.moment("gap_end")) AS "to", reason
                  FROM \(table) WHERE app_id = $1 AND job = $2 ORDER BY gap_start, item_key LIMIT 20
                """,
                context.jobKey
            )
            let newest = try connection.run(
                "SELECT \(Ledger.moment("max(found_at)")) AS found FROM \(table) WHERE app_id = $1 AND job = $2",
                context.jobKey
            )[0].textOrNil("found")
            return Self(gaps: gaps, newestGapFoundAt: newest)
        }

        func lines(in status: JobStatus) -> [String] {
            gaps.map { "  gap: \($0.stream) \(itemName($0.item)) from \($0.from) to \($0.to): \($0.reason)" }
        }
    }

    package var gaps: [Gap] { self[Gaps.self]?.gaps ?? [] }
    package var newestGapFoundAt: String? { self[Gaps.self]?.newestGapFoundAt }

    package struct Gap: Codable, Sendable, Equatable {
        package let stream: String
        package let item: String
        package let from: String
        package let to: String
        package let reason: String
    }
}
