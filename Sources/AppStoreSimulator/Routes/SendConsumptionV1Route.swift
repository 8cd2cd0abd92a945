import AppStoreModel
import Basics

extension Route {
    /// Send Consumption Information V1: the app's answer to a CONSUMPTION_REQUEST for a consumable or a subscription.
    ///
    /// Purchases with Advanced Commerce are answered here only.
    static let sendConsumptionInformationV1 = Route(
        "sendConsumptionInformationV1",
        .put,
        "/inApps/v1/transactions/consumption/{transactionId}",
        requestsPerSecond: 50,
        action: { request, world throws(APIError) in
            let id = try request.transactionId()
            let preference = try preference(in: request.body)
            let found = try world.transaction(id)
            guard [.consumable, .autoRenewable].contains(found.transaction.product.kind) else {
                throw .transactionTypeNotSupported
            }
            return world.answerRefundRequest(
                ofCustomer: found.customer,
                position: found.position,
                with: preference,
                for: request
            )
        }
    )

    /// Checks the body.
    ///
    /// Source: `ConsumptionRequestV1`, read 2026-11.
    ///
    /// Throws the error of the first member that is missing or not valid; all are required.
    private static func preference(in bytes: [UInt8]) throws(APIError) -> RefundPreference {
        let numbers: [(String, ClosedRange<Int64>, APIError)] = [
            ("accountTenure", 0...7, .accountTenure), ("consumptionStatus", 0...3, .consumptionStatus),
            ("deliveryStatus", 0...5, .deliveryStatus),
            ("lifetimeDollarsPurchased", 0...7, .lifetimeDollarsPurchased),
            ("lifetimeDollarsRefunded", 0...7, .lifetimeDollarsRefunded), ("platform", 0...2, .platform),
            ("playTime", 0...7, .playTime), ("userStatus", 0...4, .userStatus),
        ]
        let others: Set = ["appAccountToken", "customerConsented", "refundPreference", "sampleContentProvided"]
        let body = try RequestBody(bytes, members: others.union(numbers.map(\.0)))
        guard try body.flag("customerConsented", or: .customerConsented) else { throw .customerConsented }
        for (name, range, error) in numbers { _ = try body.integer(name, in: range, or: error) }
        let token = try body.text("appAccountToken", or: .appAccountToken)
        guard token.isEmpty || UUIDText.bytes(of: token) != nil else { throw .appAccountToken }
        _ = try body.flag("sampleContentProvided", or: .sampleContentProvided)
        // 0 undeclared, 1 grant, 2 decline, 3 no preference.
        switch try body.integer("refundPreference", in: 0...3, or: .refundPreference) {
        case 1: return .grantFull
        case 2: return .decline
        default: return .none
        }
    }
}
