import AppStoreModel

/// An app whose history the simulator serves, with the IDs of its account's In-App Purchase key.
struct SimulatedApp: Sendable {
    let bundleId: String
    let bundleVersion = "4.2.1"
    let environment: AppStoreEnvironment
    let issuerId: String
    let keyId: String

    private let number: Int64

    /// Apple sends it in production only.
    var appAppleId: Int64? { environment == .production ? number : nil }

    init(_ parameters: WorldParameters) {
        self.init(
            environment: parameters.environment,
            seed: parameters.accountSeed,
            bundleId: parameters.bundleId,
            place: parameters.place
        )
    }

    /// - Parameters:
    ///   - environment: Where the app is.
    ///   - seed: Determines the IDs of the key.
    ///   - bundleId: Another for each app of the account.
    ///   - place: The place of the app among the account's apps, from 0.
    init(
        environment: AppStoreEnvironment,
        seed: UInt64,
        bundleId: String = SimulatorConfiguration.defaultBundleId,
        place: Int = 0
    ) {
        self.bundleId = bundleId
        self.environment = environment
        number = 1_234_567_890 + Int64(place)
        var random = SplitMix64(seed: seed, path: 1)
        issuerId = random.uuid()
        let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
        keyId = String((0..<10).map { _ in random.pick(alphabet) })
    }
}
