import Ledger
import TestSupport
import Testing

@Suite(.migratedDatabase)
struct KnownAppTests {
    @Test func `apps are known by bundle and environment, in order`() async throws {
        let world = try await TestLedger()
        let sandbox = try await world.ledger.app(
            bundleId: "com.example.game",
            environment: "Sandbox",
            appAppleId: nil
        )
        let other = try await world.ledger.app(bundleId: "com.example.chess", environment: "Production", appAppleId: 7)
        let apps = try await world.ledger.knownApps()
        #expect(apps.map(\.bundleId) == ["com.example.chess", "com.example.game", "com.example.game"])
        #expect(apps.map(\.environment) == ["Production", "Production", "Sandbox"])
        #expect(apps.map(\.id) == [other, world.app, sandbox])
    }
}
