import Basics
import Hashing
import Ledger
import LedgerSchema
import SignedData
import Streams
import TestSupport
import Testing

/// Which server and root an app's records may come from.
@Suite(.migratedDatabase)
struct AppOriginTests {
    private let apple = RecordOrigin(
        server: "https://api.storekit.apple.com",
        trustedRoots: [SHA256.digest(of: AppleRootCA.g3).hexadecimal]
    )
    private let rehearsal = RecordOrigin(server: "http://127.0.0.1:8080", trustedRoots: ["aa"])
    private let other = RecordOrigin(server: "http://127.0.0.1:8081", trustedRoots: ["bb", "aa"])

    private func fill(_ world: TestLedger) async throws {
        let origin = RowOrigin(
            app: world.app,
            job: "nightly",
            run: 1,
            stream: .transactionHistory,
            listedTransactionID: nil
        )
        _ = try await world.ledger.write(PageRows(Rows.transaction("10")), from: origin)
    }

    private func origin(in world: TestLedger) async throws -> [String] {
        try await world.rows("SELECT server, trusted_roots FROM apps")
    }

    @Test func `an app with records of one root refuses another, and nothing changes`() async throws {
        let world = try await TestLedger()
        for (own, strange) in [(apple, rehearsal), (rehearsal, apple), (rehearsal, other)] {
            try await world.run("UPDATE apps SET server = NULL, trusted_roots = NULL")
            try await world.run("DELETE FROM transactions")
            #expect(try await world.ledger.claim([world.app: own], asksServer: true) == [])
            try await fill(world)
            let filed = try await origin(in: world)
            let expected = OtherOrigin(
                bundleId: "com.example.game",
                environment: "Production",
                found: own,
                job: strange
            )
            await #expect(throws: expected) { try await world.ledger.check([world.app: strange]) }
            await #expect(throws: expected) {
                _ = try await world.ledger.claim([world.app: strange], asksServer: true)
            }
            for words in [own.server, strange.server] + own.trustedRoots + strange.trustedRoots {
                #expect(expected.description.contains(words))
            }
            try await world.ledger.check([world.app: own])
            #expect(try await world.ledger.claim([world.app: own], asksServer: true) == [])
            #expect(try await origin(in: world) == filed)
        }
    }

    @Test func `an app without records takes any root, and the one that fills it stays`() async throws {
        let world = try await TestLedger()
        #expect(try await world.ledger.claim([world.app: rehearsal], asksServer: true) == [])
        #expect(try await world.ledger.claim([world.app: apple], asksServer: true) == [])
        #expect(try await origin(in: world) == ["(https://api.storekit.apple.com,{\(apple.trustedRoots[0])})"])
        // A window that was read and had nothing in it is filled, too: it is not read again.
        _ = try await world.leased(["1"])
        try await world.run("UPDATE crawl_items SET complete_until = now()")
        await #expect(throws: OtherOrigin.self) { try await world.ledger.check([world.app: rehearsal]) }
    }

    @Test func `the server may change under the same root, and a replay names none`() async throws {
        let world = try await TestLedger()
        _ = try await world.ledger.claim([world.app: rehearsal], asksServer: true)
        try await fill(world)
        let moved = RecordOrigin(server: "http://127.0.0.1:9999", trustedRoots: ["aa"])
        #expect(try await world.ledger.claim([world.app: moved], asksServer: false) == [])
        #expect(try await origin(in: world) == ["(http://127.0.0.1:8080,{aa})"])
        #expect(try await world.ledger.claim([world.app: moved], asksServer: true) == [])
        #expect(try await origin(in: world) == ["(http://127.0.0.1:9999,{aa})"])
    }

    @Test func `a further root of Apple's is Apple's, in either order`() async throws {
        let world = try await TestLedger()
        let fewer = RecordOrigin(server: apple.server, trustedRoots: [])
        for (first, second) in [(apple, fewer), (fewer, apple)] {
            _ = try await world.ledger.claim([world.app: first], asksServer: true)
            try await world.run("DELETE FROM transactions")
            try await fill(world)
            #expect(try await world.ledger.claim([world.app: second], asksServer: true) == [])
        }
    }

    @Test func `records from before the origin was recorded are taken over, and a rehearsal says so`() async throws {
        let world = try await TestLedger()
        try await fill(world)
        #expect(try await world.ledger.claim([world.app: apple], asksServer: true) == [])
        try await world.run("UPDATE apps SET server = NULL, trusted_roots = NULL")
        let remarks = try await world.ledger.claim([world.app: rehearsal], asksServer: true)
        #expect(remarks.count == 1 && remarks[0].contains("unknown origin") && remarks[0].contains("root aa"))
        #expect(try await world.ledger.claim([world.app: rehearsal], asksServer: true) == [])
        await #expect(throws: OtherOrigin.self) { try await world.ledger.check([world.app: apple]) }
    }

    @Test func `of two apps both are claimed or none`() async throws {
        let world = try await TestLedger()
        let sandbox = try await world.ledger.app(bundleId: "com.example.game", environment: "Sandbox", appAppleId: nil)
        _ = try await world.ledger.claim([world.app: apple], asksServer: true)
        try await fill(world)
        try await world.run("UPDATE apps SET server = NULL, trusted_roots = NULL WHERE environment = 'Production'")
        try await world.run("UPDATE apps SET trusted_roots = '{cc}' WHERE environment = 'Sandbox'")
        try await world.run(
            "INSERT INTO crawl_items (app_id, job, stream, item_key, run_id, state, fingerprint, page_seq) VALUES (\(sandbox.rawValue), 'j', 's', 'k', 1, 'done', 'f', 1)"
        )
        await #expect(throws: OtherOrigin.self) {
            _ = try await world.ledger.claim([world.app: apple, sandbox: apple], asksServer: true)
        }
        #expect(try await world.count("apps WHERE environment = 'Production' AND trusted_roots IS NULL") == 1)
    }
}
