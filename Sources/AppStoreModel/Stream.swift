/// One of the three histories StoreLedger crawls, each with its own endpoint and its own limit.
package enum Stream: String, CaseIterable, Sendable, Hashable {
    case transactionHistory
    case refundHistory
    case notificationHistory

    /// Apple's limit for one app in requests per second, enforced per hour.
    ///
    /// The sandbox allows a tenth. Apple may change it at any time, so a job can name another.
    /// Source: "Identifying rate limits", App Store Server API, read 2026-11.
    package func requestsPerSecond(in environment: AppStoreEnvironment) -> Double {
        let production: Double =
            switch self {
            case .transactionHistory, .notificationHistory: 50
            case .refundHistory: 10
            }
        return environment == .production ? production : production / 10
    }
}
