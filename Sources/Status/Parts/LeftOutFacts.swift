import Basics
import LedgerSchema
import Postgres

extension JobStatus {
    /// Records of the app whose newest signature leaves out facts that an earlier one has; see ``LedgerSchema/FieldIssue/leftOut``.
    package struct LeftOutFacts: StatusPart, Equatable {
        package let records: Int64
        /// The fields, such as `price`, in alphabetical order.
        package let fields: [String]
        /// The key of one of the records.
        package let example: String

        static let key: String? = "leftOutFacts"
        static let words: KeyValuePairs = ["leftOutFacts": "fields that Apple left out"]
        static let tables = ["field_issues"]

        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) throws -> Self? {
            try connection.value(
                """
                SELECT count(DISTINCT (kind, record_key)) AS records, array_agg(DISTINCT path ORDER BY path) AS fields,
                       min(record_key) AS example
                  FROM field_issues WHERE app_id = $1 AND found = $2 HAVING count(*) > 0
                """,
                [context.appKey, .text(FieldIssue.leftOut)]
            )
        }

        func lines(in status: JobStatus) -> [String] {
            let lacking = "\(counted(records, "record")) lack \(fields.joined(separator: ", "))"
            return [
                "  left out: the newest signatures of \(lacking), such as \(example); known values are kept. To request the "
                    + "records again, see docs/troubleshooting.md#fields-that-apple-left-out"
            ]
        }
    }

    package var leftOutFacts: LeftOutFacts? { self[LeftOutFacts.self] }
}
