package import AppStoreModel

/// The unsigned payloads of a simulated App Store, for tests that sign them themselves.
package enum SimulatedPayloads {
    private static let environment = AppStoreEnvironment.production

    package static var bundleId: String { SimulatedApp(environment: environment, seed: 0).bundleId }
    package static var appAppleId: Int64? { SimulatedApp(environment: environment, seed: 0).appAppleId }

    /// The JSON of every transaction of a production app, customer by customer.
    ///
    /// - Parameters:
    ///   - seed: The same seed gives the same transactions.
    ///   - customers: They have ten transactions on average. Twenty customers have every kind of transaction.
    ///   - signedDate: All purchases are before it.
    /// - Returns: UTF-8.
    package static func transactions(seed: UInt64, customers: Int, signedDate: UnixMilliseconds) -> [[UInt8]] {
        let world = World(
            parameters: WorldParameters(
                seed: seed,
                customers: customers,
                transactionsPerCustomer: 10,
                environment: environment,
                anchor: signedDate
            )
        )
        return world.customers.flatMap { customer in
            customer.transactions.map {
                $0.payload(
                    of: customer.identity,
                    in: world.app,
                    signedDate: signedDate.rawValue,
                    bundleId: world.app.bundleId
                )
            }
        }
    }
}
