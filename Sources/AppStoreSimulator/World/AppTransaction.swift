import AppStoreModel

/// The download of the app by a customer.
///
/// Source: `AppTransaction`, read 2026-11.
struct AppTransaction: Sendable, Equatable {
    let customer: CustomerIdentity
    let verificationNonce: String
    let originalPurchaseDate: Int64
    let platform: String

    func payload(in app: SimulatedApp, signedDate: Int64) -> [UInt8] {
        jsonObject {
            $0.member("receiptType", app.environment.rawValue)
            $0.member("appAppleId", app.appAppleId)
            $0.member("bundleId", app.bundleId)
            $0.member("applicationVersion", app.bundleVersion)
            $0.member("versionExternalIdentifier", Int64(862_104_113))
            $0.member("receiptCreationDate", signedDate)
            $0.member("originalPurchaseDate", originalPurchaseDate)
            $0.member("originalApplicationVersion", "1.0")
            $0.member("deviceVerification", "c2ltdWxhdGVkIGRldmljZQ==")
            $0.member("deviceVerificationNonce", verificationNonce)
            $0.member("preorderDate", originalPurchaseDate - 30 * Moment.day)
            $0.member("appTransactionId", customer.appTransactionId)
            $0.member("originalPlatform", platform)
        }
    }
}
