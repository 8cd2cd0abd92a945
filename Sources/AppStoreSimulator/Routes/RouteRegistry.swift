extension Route {
    /// Every endpoint the simulator answers, in the order of the counts in `GET /simulator/requests`.
    static let all: [Route] = [
        .transactionHistory,
        .refundHistory,
        .notificationHistory,
        .transactionInfo,
        .subscriptionStatuses,
        .appTransaction,
        .orderLookup,
        .transactionHistoryV1,
        .refundHistoryV1,
    ]
}
