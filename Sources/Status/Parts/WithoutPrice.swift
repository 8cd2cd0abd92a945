import Basics
import Postgres

extension JobStatus {
    /// Transactions of the app that Apple has never signed with a price.
    ///
    /// Members of a family or group pay nothing, so their transactions do not count.
    package struct WithoutPrice: StatusPart, Equatable {
        package let transactions: Int64
        /// The `transactionId` of one of them.
        package let example: String

        static let key: String? = "withoutPrice"
        static let words: KeyValuePairs = ["withoutPrice": "transactions without a price"]
        static let tables = ["transactions"]

        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) throws -> Self? {
            try connection.value(
                """
                SELECT count(*) AS transactions, min(transaction_id) AS example FROM transactions
                 WHERE app_id = $1 AND price_milliunits IS NULL
                   AND in_app_ownership_type IS DISTINCT FROM 'FAMILY_SHARED' AND in_app_ownership_type IS DISTINCT FROM 'ASSIGNED'
                HAVING count(*) > 0
                """,
                [context.appKey]
            )
        }

        func lines(in status: JobStatus) -> [String] {
            [
                "  without a price: \(counted(transactions, "transaction")), such as \(example); they add nothing to revenue. To "
                    + "request them again, see docs/troubleshooting.md#fields-that-apple-left-out"
            ]
        }
    }

    package var withoutPrice: WithoutPrice? { self[WithoutPrice.self] }
}
