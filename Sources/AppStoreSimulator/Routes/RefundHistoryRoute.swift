extension Route {
    /// Get Refund History: the refunded transactions of one customer, in the order of their refunds.
    static let refundHistory = Route(
        "refundHistory",
        .get,
        "/inApps/v2/refund/lookup/{anyTransactionId}",
        requestsPerSecond: 10
    ) { request, context throws(APIError) in
        let query = try request.query
        let id = try request.checkedTransactionId
        let (customer, transactions) = try context.history(of: id)
        let (records, paging) = try context.page(
            of: transactions.refunds,
            query: query,
            boundTo: CursorCodec.Binding(text: "refunds\u{2}\(customer)")
        )
        return SimulatedAnswer(
            records: records.map { .transaction($0, kind: "refund", in: context.world.app, now: context.now) },
            paging: paging
        ) { signed, json in
            json.member("signedTransactions", signed)
        }
    }
}

extension [StoredTransaction] {
    /// The refunded ones in the order of their refunds, each with its position in that order.
    var refunds: [(position: CursorPosition, record: StoredTransaction)] {
        let refunds = compactMap { record in
            record.transaction.refundDate.map { date in
                (position: CursorPosition(date: date, number: record.transaction.id), record: record)
            }
        }
        return refunds.sorted { $0.position < $1.position }
    }
}
