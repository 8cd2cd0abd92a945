import AppStoreModel

/// The app whose history the simulator serves, with the IDs of its API key.
struct SimulatedApp: Sendable {
    let bundleId = "com.example.game"
    let bundleVersion = "4.2.1"
    let environment: AppStoreEnvironment
    let issuerId: String
    let keyId: String

    private let number: Int64 = 1_234_567_890

    /// Apple sends it in production only.
    var appAppleId: Int64? { environment == .production ? number : nil }

    init(environment: AppStoreEnvironment, seed: UInt64) {
        self.environment = environment
        var random = SplitMix64(seed: seed, path: 1)
        issuerId = random.uuid()
        let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
        keyId = String((0..<10).map { _ in random.pick(alphabet) })
    }
}
