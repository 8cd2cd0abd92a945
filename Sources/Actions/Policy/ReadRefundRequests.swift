import ActionKinds
import AppStoreModel
import LedgerSchema
import Postgres

extension RefundRequest {
    /// Reads the refund requests of an app, the oldest first.
    ///
    /// - Parameters:
    ///   - days: The requests of so many days; `nil` for those that are open and have no answer.
    ///   - states: Without `days`: the states in which an answer does not count as one.
    /// - Throws: ``Postgres/PostgresError``.
    static func all(
        of app: AppID,
        days: Int64?,
        unansweredIn states: [RowState] = [.planned, .approved, .rejected, .notApplied, .cancelled],
        on connection: borrowing PostgresConnection
    ) throws -> [RefundRequest] {
        try connection.run(
            .refundRequests,
            [
                "app": .integer(app.rawValue), "days": days.map(Cell.bigint) ?? .null,
                "states": .textArray(states.map(\.rawValue)),
            ]
        ).map(RefundRequest.init)
    }

    /// The request for a purchase, with no more than the IDs of its customer; `nil` if the ledger does not have the purchase.
    static func ofPurchase(
        _ transactionId: String,
        of app: AppID,
        on connection: borrowing PostgresConnection
    ) throws -> RefundRequest? {
        try connection.run(
            """
            SELECT transaction_id, original_transaction_id, app_transaction_id, app_account_token::text FROM transactions
             WHERE app_id = $1 AND transaction_id = $2
            """,
            [.integer(app.rawValue), .text(transactionId)]
        ).first.map { row in
            RefundRequest(
                transactionId: transactionId,
                requestedAt: UnixMilliseconds(rawValue: 0),
                customerIDs: try customerIDs(row)
            )
        }
    }

    private static func customerIDs(_ row: PostgresRow) throws -> [CustomerIDColumn: String] {
        var ids: [CustomerIDColumn: String] = [:]
        for column in CustomerIDColumn.allCases { ids[column] = try row.textOrNil(column.rawValue) }
        return ids
    }

    private init(_ row: PostgresRow) throws {
        self.init(
            transactionId: try row.text("transaction_id"),
            requestedAt: UnixMilliseconds(rawValue: try row.timestamp("requested_at")),
            reason: try row.textOrNil("consumption_request_reason"),
            productId: try row.textOrNil("product_id"),
            type: try row.textOrNil("type"),
            storefront: try row.textOrNil("storefront"),
            priceMilliunits: try row.int64OrNil("price_milliunits"),
            currency: try row.textOrNil("currency"),
            daysSincePurchase: try row.int64OrNil("days_since_purchase"),
            earlierRefunds: try row.int64("earlier_refunds"),
            hasAdvancedCommerce: try row.bool("has_advanced_commerce"),
            ownership: try row.textOrNil("in_app_ownership_type"),
            customerIDs: try Self.customerIDs(row),
            outcome: Outcome(rawValue: try row.text("outcome")) ?? .pending
        )
    }
}
