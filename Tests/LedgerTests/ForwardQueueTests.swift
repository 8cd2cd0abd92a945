import AppStoreModel
import LedgerSchema
import Postgres
import TestSupport
import Testing

@testable import Erasure
@testable import Inbox
@testable import Ledger

/// The notifications that are still to be posted to further servers.
@Suite(.migratedDatabase)
struct ForwardQueueTests {
    private static let url = "https://a.example/notifications"
    private static let other = "https://b.example/notifications"

    private func notification(
        _ key: String,
        of customer: String? = "100000000001",
        content: UInt8 = 1,
        signed: Int64 = Rows.signedDate
    ) -> ReceivedNotification {
        var notification = ReceivedNotification(
            key: key,
            version: 2,
            type: "DID_RENEW",
            signedDate: UnixMilliseconds(rawValue: signed),
            originalTransactionId: customer,
            body: key,
            bodySHA256: [content]
        )
        let body = "{ \"signedPayload\" : \"\(key) \(content) of \(customer ?? "none")\" }\n"
        notification.forward = .init(customer: customer, body: Array(body.utf8))
        return notification
    }

    private func inbox(_ world: TestLedger, _ urls: [String] = [url]) -> NotificationInbox {
        world.ledger.inbox(of: world.app, sessions: 1, patience: .seconds(10), forwardingTo: urls)
    }

    private func queue(_ world: TestLedger) -> ForwardQueue {
        world.ledger.forwards(of: world.app, claiming: world.ledger.pages.pool, recording: world.ledger.pages.pool)
    }

    private func due(_ world: TestLedger, at url: String = url) async throws -> [ForwardQueue.Claim] {
        try await queue(world).claim(for: url, atMost: 8).sorted { $0.id < $1.id }
    }

    @Test func `a stored notification waits for each URL as it was posted, and one that comes again does not`()
        async throws
    {
        let world = try await TestLedger()
        let inbox = inbox(world, [Self.url, Self.other])
        let first = notification("n1")
        #expect(try await inbox.store([first]) == [.new])
        #expect(try await inbox.store([first]) == [.known])
        for url in [Self.url, Self.other] {
            let claims = try await due(world, at: url)
            #expect(claims.map(\.body) == [first.forward?.body] && claims.map(\.attempt) == [1])
            try await queue(world).end(try #require(claims.first))
        }
        #expect(try await world.count("forwards") == 0)
    }

    @Test func `a content that replaces an older one is forwarded after it, and an older one is not forwarded`()
        async throws
    {
        let world = try await TestLedger()
        let later = Rows.signedDate + 1_000
        #expect(try await inbox(world).store([notification("n1")]) == [.new])
        #expect(try await inbox(world).store([notification("n1", content: 2, signed: later)]) == [.known])
        #expect(try await inbox(world).store([notification("n1", content: 3)]) == [.conflict])
        var bodies: [[UInt8]] = []
        while let claim = try await due(world).first {
            bodies.append(claim.body)
            try await queue(world).end(claim)
        }
        #expect(bodies == [notification("n1").forward?.body, notification("n1", content: 2).forward?.body])
    }

    @Test func `a notification without URL or without a body to forward leaves no row`() async throws {
        let world = try await TestLedger()
        var silent = notification("n1")
        silent.forward = nil
        _ = try await inbox(world).store([silent])
        _ = try await inbox(world, []).store([notification("n2")])
        #expect(try await world.count("forwards") == 0)
    }

    @Test func `a customer's notifications are taken one after the other, and other customers do not wait`()
        async throws
    {
        let world = try await TestLedger()
        let inbox = inbox(world, [Self.url, Self.other])
        _ = try await inbox.store([notification("n1"), notification("m1", of: "200000000002"), notification("n2")])
        _ = try await inbox.store([notification("n3"), notification("t1", of: nil), notification("t2", of: nil)])
        let first = try await due(world)
        #expect(first.map(\.notificationUUID) == ["n1", "m1", "t1", "t2"])
        #expect(try await due(world).isEmpty, "another process takes none of them")
        try await queue(world).postpone(first[0], by: .seconds(3_600), because: "HTTP status 500")
        #expect(try await due(world).isEmpty, "the later ones wait for the first")
        #expect(try await due(world, at: Self.other).map(\.notificationUUID) == ["n1", "m1", "t1", "t2"])
        try await world.run("UPDATE forwards SET due_at = now() WHERE notification_uuid IN ('n1', 'n2', 'n3')")
        let again = try await due(world)
        #expect(again.map(\.notificationUUID) == ["n1"] && again.map(\.attempt) == [2])
        try await queue(world).postpone(again[0], by: .seconds(3_600), because: "HTTP status 500")
        try await world.run("UPDATE forwards SET due_at = now() WHERE notification_uuid = 'n1'")
        try await queue(world).end(try #require(try await due(world).first))
        let second = try await due(world)
        #expect(second.map(\.notificationUUID) == ["n2"], "it is due at once, although it was postponed with the first")
        try await queue(world).end(second[0])
        #expect(try await due(world).map(\.notificationUUID) == ["n3"])
    }

    @Test func `a lease ends, and only the holder of the last attempt can end or postpone the notification`()
        async throws
    {
        let world = try await TestLedger()
        _ = try await inbox(world).store([notification("n1")])
        let killed = try #require(try await due(world).first)
        #expect(try await world.count("forwards WHERE due_at >= stored_at + interval '30 s'") == 1)
        try await world.run("UPDATE forwards SET due_at = now()")
        let next = try #require(try await due(world).first)
        #expect(next.id == killed.id && next.attempt == 2)
        try await queue(world).end(killed)
        try await queue(world).postpone(killed, by: .zero, because: "late")
        #expect(try await world.count("forwards WHERE last_error IS NULL") == 1)
        #expect(try await due(world).isEmpty)
        try await queue(world).end(next)
        #expect(try await world.count("forwards") == 0)
    }

    @Test func `what is undelivered after 72 hours is given up and counted, and forgotten after 30 days`() async throws
    {
        let world = try await TestLedger()
        _ = try await inbox(world, [Self.url, Self.other]).store([notification("n1"), notification("n2")])
        try await world.run("UPDATE forwards SET stored_at = now() - interval '71 h 59 min'")
        #expect(try await queue(world).giveUpOld().isEmpty)
        try await world.run(
            "UPDATE forwards SET stored_at = now() - interval '72 h 1 min', last_error = 'HTTP status 500' WHERE notification_uuid = 'n1'"
        )
        #expect(try await queue(world).giveUpOld() == [Self.url: 1, Self.other: 1])
        #expect(try await due(world).map(\.notificationUUID) == ["n2"], "the next one no longer waits")
        #expect(try await world.count("forwards WHERE body IS NULL AND given_up_at IS NOT NULL") == 2)
        let counts = try await queue(world).counts()
        #expect(counts.map(\.url) == [Self.url, Self.other])
        #expect(counts.map(\.undelivered) == [1, 1] && counts.map(\.givenUp) == [1, 1])
        #expect(counts.map(\.lastError) == ["HTTP status 500", "HTTP status 500"])
        #expect(counts.allSatisfy { ($0.oldestSeconds ?? 0) > 71 * 3_600 })
        try await world.run(
            "UPDATE forwards SET given_up_at = now() - interval '31 days' WHERE given_up_at IS NOT NULL"
        )
        #expect(try await queue(world).giveUpOld().isEmpty)
        #expect(try await world.count("forwards") == 2)
    }

    @Test func `nothing of an erased customer is forwarded, also not what comes after the erasure`() async throws {
        let world = try await TestLedger()
        _ = try await inbox(world).store([notification("n1"), notification("m1", of: "200000000002")])
        _ = try await world.ledger.erase([.transaction("100000000001")], in: [world.app])
        #expect(try await world.rows("SELECT notification_uuid FROM forwards") == ["(m1)"])
        _ = try await inbox(world).store([notification("n2"), notification("n3")])
        #expect(try await due(world).map(\.notificationUUID) == ["m1"])
        #expect(try await due(world).isEmpty)
        #expect(try await world.rows("SELECT notification_uuid FROM forwards") == ["(m1)"])
    }
}
