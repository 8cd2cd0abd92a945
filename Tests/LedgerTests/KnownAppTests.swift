import Ledger
import LedgerSchema
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

    @Test func `an app without a job and without records is not in use`() async throws {
        let world = try await TestLedger()
        let wrong = try await world.ledger.app(bundleId: "com.example.gam", environment: "Production", appAppleId: 7)
        for (app, job, rows) in [(world.app, "nightly", 0), (wrong, "nightly (removed)", 0)] {
            try await world.run(
                """
                INSERT INTO runs (app_id, job, fingerprint, frozen_now, version, rows_new, finished_at)
                VALUES (\(app.rawValue), '\(job)', 'f', now(), '1', \(rows), now())
                """
            )
        }
        #expect(try await world.ledger.appsInUse().map(\.id) == [world.app])
        // Its records count, whichever job loaded them.
        try await world.run("UPDATE runs SET rows_new = 1 WHERE app_id = \(wrong.rawValue)")
        #expect(try await world.ledger.appsInUse().map(\.id) == [wrong, world.app])
    }

    @Test func `rejected records of a job of the same name in Sandbox do not count for the one in Production`()
        async throws
    {
        let world = try await TestLedger()
        let sandbox = try await world.ledger.app(bundleId: "com.example.game", environment: "Sandbox", appAppleId: nil)
        for app in [world.app, sandbox] {
            try await world.run(
                """
                INSERT INTO rejected_records (app_id, job, stream, item_key, reason, detail, sha256, raw)
                VALUES (\(app.rawValue), 'nightly', 'transactionHistory', '1', 'environment', 'd', '', '')
                """
            )
        }
        func rejects(_ app: AppID) async throws -> [String] {
            try await world.ledger.rejects(of: "nightly", app: app, after: 0, atMost: 10, withText: false).map(
                \.environment
            )
        }
        func counted(_ app: AppID, _ environment: String) async throws -> [Int64] {
            try await world.ledger
                .status(of: "nightly", app: app, bundleId: "com.example.game", environment: environment)
                .rejected.map(\.records)
        }
        // Without such a job they are what appStore.sandboxFallback has brought.
        #expect(try await rejects(world.app) == ["Production", "Sandbox"])
        #expect(try await counted(world.app, "Production") == [2])
        try await world.run(
            """
            INSERT INTO runs (app_id, job, fingerprint, frozen_now, version) VALUES (\(sandbox.rawValue), 'nightly', 'f', now(), '1')
            """
        )
        #expect(try await rejects(world.app) == ["Production"])
        #expect(try await counted(world.app, "Production") == [1])
        #expect(try await rejects(sandbox) == ["Sandbox"])
        #expect(try await counted(sandbox, "Sandbox") == [1])
        #expect(try await world.ledger.dismiss(nil, of: "nightly", app: world.app) == 1)
        #expect(try await rejects(sandbox) == ["Sandbox"])
    }

    @Test func `removing a job leaves the rejected records of a job of the same name in Sandbox`() async throws {
        let world = try await TestLedger()
        let sandbox = try await world.ledger.app(bundleId: "com.example.game", environment: "Sandbox", appAppleId: nil)
        for app in [world.app, sandbox] {
            try await world.run(
                """
                INSERT INTO runs (app_id, job, fingerprint, frozen_now, version)
                VALUES (\(app.rawValue), 'nightly', 'f', now(), '1');
                INSERT INTO rejected_records (app_id, job, stream, item_key, reason, detail, sha256, raw)
                VALUES (\(app.rawValue), 'nightly', 'transactionHistory', '1', 'environment', 'd', '', '')
                """
            )
        }
        func rejects(_ app: AppID) async throws -> [String] {
            try await world.ledger.rejects(of: "nightly", app: app, after: 0, atMost: 10, withText: false).map(
                \.environment
            )
        }
        #expect(try await world.ledger.forget("nightly", of: world.app) == .removed)
        #expect(try await rejects(sandbox) == ["Sandbox"])
        #expect(try await rejects(world.app).isEmpty)
        #expect(try await world.ledger.forget("nightly", of: sandbox) == .removed)
        #expect(try await rejects(sandbox).isEmpty)
    }
}
