extension Route {
    /// Look Up Order ID: the transactions of an order, for the ID in the receipt that the customer got by e-mail.
    ///
    /// Apple has it in production only.
    static let orderLookup = Route(
        "orderLookup",
        .get,
        "/inApps/v1/lookup/{orderId}",
        requestsPerSecond: 10,
        isInSandbox: false
    ) { request, context throws(APIError) in
        guard let id = request.orderId, isOrderID(id) else { throw .badRequest }
        let app = context.world.app
        // An unknown order is a result.
        let transactions = context.world.order(id)
        return SimulatedAnswer(
            records: (transactions ?? []).map { .transaction($0, in: app, now: context.now) }
        ) { signed, json in
            json.member("status", Int64(transactions == nil ? 1 : 0))
            if !signed.isEmpty { json.member("signedTransactions", signed) }
        }
    }

    /// Whether the text can be an order ID: 1 to 64 ASCII letters and digits.
    private static func isOrderID(_ text: String) -> Bool {
        let bytes = text.utf8
        return (1...64).contains(bytes.count)
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: false
                }
            }
    }
}
