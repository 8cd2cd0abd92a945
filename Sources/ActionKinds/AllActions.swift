package import AppStoreModel

/// The registry of actions.
///
/// The job file reader, the limiter and the commands use it and do not name actions.
package enum AllActions {
    /// In the order in which documentation and commands list the actions.
    package static let types: [any AppStoreAction.Type] = [
        ExtendRenewalDate.self,
        ExtendRenewalDatesForAll.self,
        SendConsumptionInformation.self,
        SetAppAccountToken.self,
        FinishTransaction.self,
        RequestTestNotification.self,
        CancelSubscription.self,
        ChangeSubscriptionMetadata.self,
        ChangeSubscriptionPrice.self,
        MigrateSubscription.self,
        RevokeSubscription.self,
        RequestTransactionRefund.self,
        ReportExternalPurchases.self,
        PublishRetentionMessages.self,
        ConfigureRealtimeURL.self,
        DeleteRealtimeURL.self,
        InitiatePerformanceTest.self,
        ClaimSeat.self,
        UnclaimSeat.self,
        AssociateSeat.self,
    ]

    package static let names = types.map { $0.name }

    /// `nil` for a name that is unknown to this version of StoreLedger.
    package static func type(of name: StreamName) -> (any AppStoreAction.Type)? {
        types.first { $0.name == name }
    }
}
