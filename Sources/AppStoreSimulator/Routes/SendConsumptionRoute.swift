import AppStoreModel

extension Route {
    /// Send Consumption Information: the app's answer to a CONSUMPTION_REQUEST for a purchase without Advanced Commerce.
    ///
    /// Apple documents three errors without their numbers; this route sends 4000000 for them.
    static let sendConsumptionInformation = Route(
        "sendConsumptionInformation",
        .put,
        "/inApps/v2/transactions/consumption/{transactionId}",
        requestsPerSecond: 50,
        action: { request, world throws(APIError) in
            let id = try request.transactionId()
            let body = try RequestBody(
                request.body,
                members: [
                    "customerConsented", "deliveryStatus", "sampleContentProvided", "consumptionPercentage",
                    "refundPreference",
                ]
            )
            let consumption = try Consumption(body)
            let found = try world.transaction(id)
            guard !found.transaction.isFamilyShared else { throw .familyTransactionNotSupported }
            guard found.transaction.advancedCommerce == nil else { throw .advancedCommerceNotSupported }
            let preference = try consumption.preference(for: found.transaction.product.kind)
            return world.answerRefundRequest(
                ofCustomer: found.customer,
                position: found.position,
                with: preference,
                for: request
            )
        }
    )
}

/// The body of version 2.
///
/// Source: `ConsumptionRequest`, read 2026-11.
private struct Consumption {
    private let isDelivered: Bool
    /// Thousandths of a percent.
    private let percentage: Int64?
    private let refundPreference: String?

    /// Throws the error of the first member that is missing or not valid.
    init(_ body: RequestBody) throws(APIError) {
        guard try body.flag("customerConsented", or: .customerConsented) else { throw .customerConsented }
        let delivery = try body.text("deliveryStatus", or: .deliveryStatus)
        guard Self.deliveryStatuses.contains(delivery) else { throw .deliveryStatus }
        isDelivered = delivery == "DELIVERED"
        _ = try body.flag("sampleContentProvided", or: .sampleContentProvided)
        percentage =
            body.has("consumptionPercentage")
            ? try body.integer("consumptionPercentage", in: 0...100_000, or: .consumptionPercentage) : nil
        refundPreference =
            body.has("refundPreference") ? try body.text("refundPreference", or: .refundPreference) : nil
        guard refundPreference.map(Self.refundPreferences.contains) ?? true else { throw .refundPreference }
    }

    /// Throws the error for members that do not fit together, or not to the product.
    func preference(for product: Product.Kind) throws(APIError) -> RefundPreference {
        guard product != .autoRenewable || percentage == nil else { throw .consumptionPercentageOfSubscription }
        // Apple demands 0 for an undelivered product, and nothing for a subscription.
        guard isDelivered || product == .autoRenewable || percentage == 0 else {
            throw .undeliveredConsumptionPercentage
        }
        switch refundPreference {
        case "DECLINE": return .decline
        case "GRANT_FULL": return .grantFull
        case "GRANT_PRORATED":
            guard product != .autoRenewable else { return .grantProrated(consumed: nil) }
            guard let percentage, (1..<100_000).contains(percentage) else { throw .refundPreference }
            return .grantProrated(consumed: percentage)
        default: return .none
        }
    }

    private static let deliveryStatuses: Set = [
        "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE",
        "UNDELIVERED_OTHER",
    ]
    private static let refundPreferences: Set = ["DECLINE", "GRANT_FULL", "GRANT_PRORATED"]
}
