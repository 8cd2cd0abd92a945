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
        .extendRenewalDate,
        .extendRenewalDatesForAll,
        .massExtensionStatus,
        .sendConsumptionInformation,
        .sendConsumptionInformationV1,
        .setAppAccountToken,
        .finishTransaction,
        .requestTestNotification,
        .testNotificationStatus,
        .cancelSubscription,
        .changeSubscriptionMetadata,
        .changeSubscriptionPrice,
        .migrateSubscription,
        .revokeSubscription,
        .requestTransactionRefund,
        .customerGroups,
        .groupMembers,
        .seats,
        .claimSeat,
        .unclaimSeat,
        .associateSeat,
    ]

    /// The endpoints that change the world.
    static let actions: [EndpointName: Action] = Dictionary(
        uniqueKeysWithValues: all.compactMap { route in route.action.map { (route.name, $0) } }
    )
}
