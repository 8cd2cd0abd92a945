import AppStoreModel
import JobPlan
import LedgerSchema
import Postgres

extension RefundRequest {
    /// Reads the refund requests of an app, the oldest first.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - days: The requests of so many days; `nil` for those that are open and have no answer.
    ///   - states: Without `days`: the states in which an answer does not count as one.
    ///   - connection: A session of the ledger.
    /// - Returns: The requests.
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

    private init(_ row: PostgresRow) throws {
        let transactionId = try row.text("transaction_id")
        let ids: [(CustomerIDColumn, String?)] = [
            (.appAccountToken, try row.textOrNil("app_account_token")),
            (.appTransactionId, try row.textOrNil("app_transaction_id")),
            (.originalTransactionId, try row.textOrNil("original_transaction_id")),
            (.transactionId, transactionId),
        ]
        self.init(
            transactionId: transactionId,
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
            customerIDs: Dictionary(uniqueKeysWithValues: ids.compactMap { column, id in id.map { (column, $0) } }),
            outcome: Outcome(rawValue: try row.text("outcome")) ?? .pending
        )
    }
}
