import AppStoreModel
import Foundation
import SignedData
import StrictJSON
import Testing

@testable import AppStoreSimulator

/// Several apps of one account, so that a fleet of jobs can be tried against the simulator.
struct AccountTests {
    private static let second = "com.example.second"

    @Test func `each app has its own world, IDs and files, and all share one key`() async throws {
        try await TestStore.run(
            customers: 5,
            configure: { $0.bundleIds = [SimulatorConfiguration.defaultBundleId, Self.second] }
        ) { store in
            let directory = store.store.directory + "/" + Self.second
            let ids = try String(contentsOfFile: directory + "/ids.csv", encoding: .utf8)
                .split(separator: "\n").dropFirst().map(String.init)
            let others = try store.ids
            #expect(ids.count == 5 && Set(ids).isDisjoint(with: others))
            let job = try String(contentsOfFile: directory + "/job.yaml", encoding: .utf8)
            for line in [
                "bundleId: \(Self.second)", "keyId: \(store.app.keyId)", "appAppleId: 1234567891",
                "privateKeyFile: ../SubscriptionKey_\(store.app.keyId).p8", "trustedRoots: [../root.cer]",
                "name: simulated-app-store",
            ] { #expect(job.contains(line), "\(line)") }
            #expect(!FileManager.default.fileExists(atPath: directory + "/ca.pem"))

            let token = try BearerTokenSigner(
                key: store.key,
                keyId: store.app.keyId,
                issuerId: store.app.issuerId,
                bundleId: Self.second
            ).token(at: store.clock.now).text.reveal()
            let own = try await store.get(TestStore.history(ids[0]), token: token)
            #expect(try own.status == 200 && own.json["bundleId"]?.string == Self.second)
            #expect(try await store.get(TestStore.history(ids[0])).errorCode == 4_040_010)
            #expect(try await store.get(TestStore.history(try store.ids[0])).status == 200)
            let other = try BearerTokenSigner(
                key: store.key,
                keyId: store.app.keyId,
                issuerId: store.app.issuerId,
                bundleId: "com.example.third"
            ).token(at: store.clock.now).text.reveal()
            #expect(try await store.get(TestStore.history(ids[0]), token: other).status == 401)

            // The simulator's own endpoints name the app; the rules are for all.
            let world = try await store.get(
                "/simulator/world/transaction",
                [("bundleId", Self.second)],
                token: .some(nil)
            )
            #expect(String(decoding: world.body, as: UTF8.self).contains(Self.second))
            let rules = #"{"rules":[{"fault":"status","status":503}]}"#
            #expect(try await store.put("/simulator/faults", body: rules).status == 200)
            #expect(try await store.get(TestStore.history(ids[0]), token: token).status == 503)
        }
    }

    @Test(arguments: [["com.example.game", "com.example.game"], ["../x"], [""]])
    func `bundle IDs that are no bundle IDs, or named twice, are refused`(bundleIds: [String]) {
        var configuration = SimulatorConfiguration(directory: "/nonexistent")
        configuration.bundleIds = bundleIds
        #expect(throws: SimulatorError.self) { try configuration.check() }
    }
}
