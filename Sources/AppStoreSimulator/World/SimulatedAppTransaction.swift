import AppStoreModel

/// The download of the app by a customer.
///
/// Source: `SimulatedAppTransaction`, read 2026-11.
struct SimulatedAppTransaction: Sendable, Equatable {
    let customer: CustomerIdentity
    let verificationNonce: String
    let originalPurchaseDate: Int64
    let platform: String

    /// The app transaction of a customer, always the same; `nil` for a customer who has bought nothing.
    init?(of customer: Customer, seed: UInt64) {
        guard let first = customer.transactions.map(\.purchaseDate).min() else { return nil }
        var random = SplitMix64(seed: seed, path: 11, UInt64(customer.identity.index))
        self.customer = customer.identity
        verificationNonce = random.uuid()
        platform = random.pick(["iOS", "macOS", "tvOS", "visionOS"])
        originalPurchaseDate = first - random.within(Moment.minute..<(30 * Moment.day))
    }

    /// The JSON that is signed.
    ///
    /// - `signedDate`: Milliseconds since 1970; `nil` leaves it out, for the part that is the same in every signature.
    /// - `bundleId`: The app's own, except under the fault `wrongBundle`.
    func payload(in app: SimulatedApp, signedDate: Int64?, bundleId: String) -> [UInt8] {
        jsonObject {
            $0.member("receiptType", app.environment.rawValue)
            $0.member("appAppleId", app.appAppleId)
            $0.member("bundleId", bundleId)
            $0.member("applicationVersion", app.bundleVersion)
            $0.member("versionExternalIdentifier", Int64(862_104_113))
            $0.member("receiptCreationDate", signedDate)
            $0.member("originalPurchaseDate", originalPurchaseDate)
            $0.member("originalApplicationVersion", "1.0")
            $0.member("deviceVerification", "c2ltdWxhdGVkIGRldmljZQ==")
            $0.member("deviceVerificationNonce", verificationNonce)
            $0.member("storeType", "CONSUMER")
            $0.member("preorderDate", originalPurchaseDate - 30 * Moment.day)
            $0.member("appTransactionId", customer.appTransactionId)
            $0.member("originalPlatform", platform)
        }
    }
}
