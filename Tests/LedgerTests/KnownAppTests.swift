import Ledger
import LedgerSchema
import Status
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

    @Test func `an app whose only run has loaded nothing is left out when there is one with records`() async throws {
        let world = try await TestLedger()
        _ = try await world.ledger.app(bundleId: "com.example.gmae", environment: "Production", appAppleId: 7)
        let apps = try await world.ledger.knownApps()
        #expect(apps.count == 2)
        #expect(try await world.ledger.withRecords(apps) == [])
        for kind in RecordKind.allCases {
            let key = kind.table.key[0]
            let columns = "app_id, \(key), signed_date, payload_sha256, payload"
            let original = kind == .transaction ? ", original_transaction_id" : ""
            try await world.run(
                """
                INSERT INTO \(kind.table.name) (\(columns)\(original))
                VALUES (\(world.app.rawValue), '1', now(), '', '{}'\(original.isEmpty ? "" : ", '1'"))
                """
            )
            #expect(try await world.ledger.withRecords(apps).map(\.id) == [world.app])
            try await world.run("DELETE FROM \(kind.table.name)")
        }
    }

    @Test func `customers are missing until a list is as long as the customers that notifications named`() async throws
    {
        let world = try await TestLedger()
        func add(_ ids: Int, since: String, exit: Int = 0) async throws {
            try await world.run(
                """
                INSERT INTO runs (app_id, job, fingerprint, frozen_now, version, listed_ids, customers_since, finished_at, exit_code)
                VALUES (\(world.app.rawValue), 'nightly', 'f', now(), '1', \(ids), \(since), now(), \(exit))
                """
            )
        }
        func sources() async throws -> CustomerSources { try await world.ledger.customerSources(of: world.app) }
        #expect(try await sources() == CustomerSources(named: 0, largestList: 0))
        #expect(try await sources().lacksList)
        try await add(827, since: "now()")
        try await add(3, since: "now()")
        try await add(1, since: "NULL")
        // A run that was stopped has not requested its whole list.
        try await add(1000, since: "NULL", exit: 76)
        #expect(try await sources() == CustomerSources(named: 827, largestList: 1))
        #expect(try await sources().lacksList)
        try await add(826, since: "NULL", exit: 2)
        #expect(try await sources().lacksList)
        try await add(827, since: "NULL")
        #expect(try await sources() == CustomerSources(named: 827, largestList: 827))
        #expect(try await !sources().lacksList)
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
