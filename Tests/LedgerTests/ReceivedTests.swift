import AppStoreModel
import Glibc
import LedgerSchema
import Postgres
import Streams
import Synchronization
import TestSupport
import Testing

@testable import Erasure
@testable import Inbox
@testable import Ledger

/// The inbox of received notifications, and what happens to them.
@Suite(.migratedDatabase)
struct ReceivedTests {
    private static func notification(
        _ key: String,
        content: UInt8 = 1,
        signed: Int64 = Rows.signedDate,
        transaction: String = "100000000001",
        version: Int32 = 2
    ) -> ReceivedNotification {
        ReceivedNotification(
            key: key,
            version: version,
            type: "DID_RENEW",
            signedDate: version == 2 ? UnixMilliseconds(rawValue: signed) : nil,
            originalTransactionId: transaction,
            body: key,
            bodySHA256: [content]
        )
    }

    /// Replaces verification: the text is the UUID, and each notification has a separate transaction.
    @Sendable private static func records(_ texts: [String], signedUntil moment: UnixMilliseconds) -> PageRows {
        var rows = PageRows()
        for (place, text) in texts.enumerated() {
            let hash = UInt8(truncatingIfNeeded: place + 1)
            let cells: [String: Cell] = ["original_transaction_id": .text("100000000001")]
            rows.snapshots.append(Rows.snapshot(Tables.notifications, text, hash: hash, cells: cells))
            rows.snapshots.append(Rows.snapshot(Tables.transactions, "1" + text, hash: hash, cells: cells))
            rows.archive.append(Rows.archived(.notification, text, payload: "{}"))
        }
        return rows
    }

    private func origin(_ world: TestLedger) -> RowOrigin {
        RowOrigin(
            app: world.app,
            job: "receiver",
            run: nil,
            stream: .notificationHistory,
            listedTransactionID: nil
        )
    }

    private func normalize(_ world: TestLedger, atMost most: Int = 100) async throws -> NormalizedBatch {
        try await world.ledger.normalizeReceived(from: origin(world), atMost: most, records: Self.records)
    }

    @Test(arguments: TestLedger.Layout.allCases)
    func `a batch of notifications becomes records once, and its texts are gone`(layout: TestLedger.Layout)
        async throws
    {
        let world = try await TestLedger(layout)
        let inbox = world.ledger.inbox(of: world.app, sessions: 1, patience: .seconds(10))
        let batch = (1...5).map { Self.notification("n\($0)") }
        #expect(try await inbox.store(batch) == Array(repeating: .new, count: 5))
        #expect(try await inbox.store(Array(batch.prefix(2))) == [.known, .known])
        #expect(try await inbox.ageOfOldestPending() != nil)
        #expect(try await normalize(world, atMost: 3) == NormalizedBatch(notifications: 3))
        #expect(try await normalize(world, atMost: 3) == NormalizedBatch(notifications: 2))
        #expect(try await normalize(world) == NormalizedBatch())
        #expect(try await inbox.ageOfOldestPending() == nil)
        #expect(try await world.count("notifications") == 5)
        #expect(try await world.count("transactions") == 5)
        #expect(try await world.count("received_notifications WHERE body IS NULL AND normalised_at IS NOT NULL") == 5)
        #expect(try await world.value("SELECT sum(receipts) FROM received_notifications") == "7")
    }

    @Test func `two receivers take different notifications, and neither waits for the other`() async throws {
        let world = try await TestLedger()
        let inbox = world.ledger.inbox(of: world.app, sessions: 1, patience: .seconds(10))
        _ = try await inbox.store((1...6).map { Self.notification("n\($0)") })
        let other = TestLedger(as: try world.anotherProcess(), app: world.app)
        let isFirst = Atomic(true)
        let inside = Promise<Void>()
        let goesOn = Promise<Void>()
        async let first = world.ledger.normalizeReceived(from: origin(world), atMost: 4) { texts, moment in
            guard isFirst.exchange(false, ordering: .relaxed) else { return Self.records(texts, signedUntil: moment) }
            inside.fulfill {}
            // The transaction keeps its rows locked while the other receiver works.
            while !goesOn.isFulfilled { usleep(1_000) }
            return Self.records(texts, signedUntil: moment)
        }
        await inside.value
        #expect(try await normalize(other) == NormalizedBatch(notifications: 2))
        goesOn.fulfill {}
        #expect(try await first == NormalizedBatch(notifications: 4))
        #expect(try await world.count("notifications") == 6)
    }

    @Test func `a batch that fails leaves its notifications to the next one`() async throws {
        let world = try await TestLedger()
        let inbox = world.ledger.inbox(of: world.app, sessions: 1, patience: .seconds(10))
        _ = try await inbox.store([Self.notification("n1")])
        try await world.run("ALTER TABLE notifications ADD CONSTRAINT refused CHECK (notification_uuid <> 'n1')")
        await #expect(throws: PostgresError.self) { _ = try await normalize(world) }
        #expect(try await world.count("received_notifications WHERE normalised_at IS NULL AND body IS NOT NULL") == 1)
        #expect(try await world.count("transactions") == 0)
        let keys = try await world.ledger.pendingNotifications(of: world.app, atMost: 5, skipping: [])
        #expect(keys == ["n1"])
        try await world.run("ALTER TABLE notifications DROP CONSTRAINT refused")
        #expect(try await normalize(world) == NormalizedBatch(notifications: 1))
    }

    @Test func `another content under one UUID wins if it was signed later, and is a conflict otherwise`() async throws
    {
        let world = try await TestLedger()
        let inbox = world.ledger.inbox(of: world.app, sessions: 1, patience: .seconds(10))
        #expect(try await inbox.store([Self.notification("n1")]) == [.new])
        #expect(try await inbox.store([Self.notification("n1", content: 2)]) == [.conflict])
        let later = Self.notification("n1", content: 3, signed: Rows.signedDate + 1)
        #expect(try await inbox.store([later]) == [.known])
        #expect(try await inbox.store([later]) == [.known])
        #expect(
            try await world.rows(
                """
                SELECT notification_uuid, encode(body_sha256, 'hex'), receipts, refused_because FROM received_notifications
                 ORDER BY 1
                """
            ) == ["(n1,03,4,)", "(refused-01,01,1,conflict)"]
        )
        // A content that has become records is in the archive, so it is not kept here.
        #expect(try await normalize(world) == NormalizedBatch(notifications: 1))
        let latest = Self.notification("n1", content: 4, signed: Rows.signedDate + 2)
        #expect(try await inbox.store([latest]) == [.known])
        #expect(try await world.count("received_notifications") == 2)
    }

    @Test func `an erasure removes the customer's notifications and all refused ones, and later ones are not kept`()
        async throws
    {
        let world = try await TestLedger()
        let inbox = world.ledger.inbox(of: world.app, sessions: 1, patience: .seconds(10))
        _ = try await inbox.store([Self.notification("n1"), Self.notification("n2", transaction: "200000000002")])
        let refused = RefusedNotification(claim: Self.notification("refused-1", transaction: "3"), reason: "chain")
        #expect(try await inbox.quarantine(refused))
        _ = try await world.ledger.erase([.transaction("100000000001")], in: [world.app])
        #expect(
            try await world.rows(
                "SELECT notification_uuid FROM received_notifications WHERE notification_uuid NOT LIKE 'erased-%'"
            ) == ["(n2)"]
        )
        // It says since when the receiver works, and nothing else.
        #expect(
            try await world.rows(
                """
                SELECT notification_type, subtype, original_transaction_id, body, encode(body_sha256, 'hex'), normalised_at IS NULL
                  FROM received_notifications WHERE notification_uuid ~ '^erased-[0-9a-f-]{36}$'
                """
            ) == ["(,,,,\"\",f)"]
        )
        try await world.run("DELETE FROM received_notifications")
        _ = try await inbox.store([
            Self.notification("n1"), Self.notification("v1-1", version: 1),
            Self.notification("v1-2", transaction: "200000000002", version: 1),
        ])
        #expect(try await normalize(world) == NormalizedBatch(notifications: 3))
        #expect(
            try await world.rows(
                "SELECT notification_uuid, original_transaction_id, body FROM received_notifications ORDER BY 1"
            ) == ["(v1-2,200000000002,v1-2)"]
        )
        #expect(try await world.rows("SELECT transaction_id FROM changed_customers") == ["(200000000002)"])
        #expect(try await world.count("notifications") == 0)
    }

    @Test func `ER7 the text of an erased customer is not kept as refused or as a conflict`() async throws {
        let world = try await TestLedger()
        let inbox = world.ledger.inbox(of: world.app, sessions: 1, patience: .seconds(10))
        _ = try await world.ledger.erase([.transaction("100000000001")], in: [world.app])
        func refused(_ text: String, reason: String = "chain") -> RefusedNotification {
            let claim = ReceivedNotification(
                key: "refused-" + text,
                version: 2,
                type: "DID_RENEW",
                originalTransactionId: nil,
                body: text,
                bodySHA256: [1]
            )
            return RefusedNotification(claim: claim, reason: reason)
        }
        #expect(try await !inbox.quarantine(refused("of 100000000001", reason: "conflict")))
        #expect(try await inbox.quarantine(refused("of 200000000002")))
        #expect(try await inbox.quarantine(refused("of 200000000002")), "counted")
        #expect(
            try await world.rows("SELECT body, receipts FROM received_notifications") == ["(\"of 200000000002\",2)"]
        )
        // A content that a newer one replaces before it has become records.
        func stored(_ key: String, _ text: String, content: UInt8, signed: Int64) -> ReceivedNotification {
            ReceivedNotification(
                key: key,
                version: 2,
                type: "DID_RENEW",
                signedDate: UnixMilliseconds(rawValue: signed),
                originalTransactionId: "100000000001",
                body: text,
                bodySHA256: [content]
            )
        }
        for (key, id) in [("n1", "100000000001"), ("n2", "200000000002")] {
            let content: UInt8 = key == "n1" ? 5 : 6
            _ = try await inbox.store([stored(key, "first of \(id)", content: content, signed: Rows.signedDate)])
            #expect(try await inbox.store([stored(key, "x", content: 7, signed: Rows.signedDate + 1)]) == [.known])
        }
        let kept = "SELECT body FROM received_notifications WHERE refused_because = 'conflict'"
        #expect(try await world.rows(kept) == ["(\"first of 200000000002\")"])
        // Version 1 is kept when its customer is marked, unless another ID in it is an erased customer's.
        _ = try await inbox.store([
            ReceivedNotification(
                key: "v1-1",
                version: 1,
                type: "DID_RENEW",
                originalTransactionId: nil,
                body: "of 100000000001",
                bodySHA256: [7]
            )
        ])
        try await world.run("DELETE FROM received_notifications WHERE version = 2")
        _ = try await normalize(world)
        #expect(try await world.count("received_notifications") == 0)
    }

    @Test func `refused notifications are kept up to a number of bytes`() async throws {
        let world = try await TestLedger()
        let inbox = world.ledger.inbox(of: world.app, sessions: 1, patience: .seconds(10))
        let text = String(repeating: "x", count: 9 * 1_024 * 1_024)
        func refused(_ key: String) -> RefusedNotification {
            let claim = ReceivedNotification(
                key: key,
                version: 2,
                type: nil,
                originalTransactionId: nil,
                body: text,
                bodySHA256: []
            )
            return RefusedNotification(claim: claim, reason: "size")
        }
        #expect(try await inbox.quarantine(refused("refused-1")))
        #expect(try await !inbox.quarantine(refused("refused-2")))
        #expect(try await inbox.quarantine(refused("refused-1")))
        #expect(try await world.value("SELECT receipts FROM received_notifications") == "2")
    }
}
