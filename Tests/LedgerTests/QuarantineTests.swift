import AppStoreModel
import Ledger
import LedgerSchema
import Status
import Streams
import TestSupport
import Testing

/// Which rejected records a commit reports as new.
@Suite(.migratedDatabase)
struct QuarantineTests {
    /// A bad record as Apple signs it for one answer; `signature` is what differs between two answers.
    private func reject(_ key: UInt8, signature: UInt8, reason: String = "signature") -> RejectedRecord {
        RejectedRecord(
            reason: reason,
            detail: "It is not what Apple signed.",
            raw: [key, signature],
            sha256: [UInt8](repeating: signature, count: 32),
            identity: [UInt8](repeating: key, count: 32)
        )
    }

    private func write(
        _ rejects: RejectedRecord...,
        in world: TestLedger,
        job: String = "nightly",
        stream: StreamName = .transactionHistory,
        run: Int64 = 1
    ) async throws -> [String] {
        var rows = PageRows()
        rows.rejected = rejects
        let origin = RowOrigin(app: world.app, job: job, run: run, stream: stream, listedTransactionID: nil)
        return try await world.ledger.write(rows, from: origin).newlyRejected
    }

    @Test func `a record is new once, even when it returns with other bytes or in another run, job or history`()
        async throws
    {
        let world = try await TestLedger()
        #expect(
            try await write(reject(1, signature: 10), reject(2, signature: 20), in: world) == [
                "signature", "signature",
            ]
        )
        #expect(try await write(reject(1, signature: 10), reject(1, signature: 11), in: world, run: 2) == [])
        #expect(try await write(reject(1, signature: 12), in: world, job: "weekly", run: 3) == [])
        #expect(try await write(reject(2, signature: 21), in: world, stream: .refundHistory, run: 3) == [])
        #expect(try await write(reject(3, signature: 30), reject(1, signature: 13), in: world, run: 3) == ["signature"])
        #expect(try await world.count("quarantined_records") == 3)
    }

    @Test func `a record is new again for another reason, and after it was loaded`() async throws {
        let world = try await TestLedger()
        #expect(try await write(reject(1, signature: 10), in: world) == ["signature"])
        #expect(try await write(reject(1, signature: 11, reason: "chain"), in: world) == ["chain"])
        let open = try await world.ledger.unresolvedRejects(of: world.app, after: 0, atMost: 10)
        let origin = RowOrigin(
            app: world.app,
            job: "nightly",
            run: 2,
            stream: .transactionHistory,
            listedTransactionID: nil
        )
        _ = try await world.ledger.write(
            PageRows(Rows.transaction("10")),
            from: origin,
            resolving: open.map(\.recordID)
        )
        #expect(try await world.count("quarantined_records") == 0)
        #expect(try await write(reject(1, signature: 10), in: world, run: 3) == ["signature"])
        #expect(try await write(reject(1, signature: 12), in: world, run: 4) == [])
    }

    @Test func `a reject from before the quarantine is recognised by its bytes`() async throws {
        let world = try await TestLedger()
        _ = try await write(reject(1, signature: 10), in: world)
        try await world.run("DELETE FROM quarantined_records")
        #expect(try await write(reject(1, signature: 10), in: world, run: 2) == [])
    }

    @Test func `everything about a rejected record is removed with it`() async throws {
        let world = try await TestLedger()
        _ = try await write(reject(1, signature: 10), in: world)
        try await world.run("DELETE FROM rejected_records")
        #expect(try await world.count("quarantined_records") == 0)
    }

    @Test func `a dismissal covers a record in every signature and job, until the record is loaded`() async throws {
        let world = try await TestLedger()
        _ = try await write(reject(1, signature: 10), reject(2, signature: 20), in: world)
        func open(_ job: String = "nightly") async throws -> [Int64] {
            try await world.ledger.rejects(of: job, app: world.app, after: 0, atMost: 10, withText: true).map(\.id)
        }
        let ids = try await open()
        #expect(try await world.ledger.dismiss([ids[0]], of: "nightly", app: world.app) == 1)
        #expect(try await open() == [ids[1]])
        await #expect(throws: UnknownRejects(ids: [ids[0], 99])) {
            try await world.ledger.dismiss([ids[1], ids[0], 99], of: "nightly", app: world.app)
        }
        // The same record in other bytes, in the same bytes, in another job, and for another reason.
        _ = try await write(reject(1, signature: 11), in: world, run: 2)
        _ = try await write(reject(1, signature: 10), in: world, run: 3)
        #expect(try await open() == [ids[1]])
        _ = try await write(reject(1, signature: 12, reason: "chain"), in: world, run: 4)
        #expect(try await open().count == 2)
        _ = try await write(reject(1, signature: 13), in: world, job: "weekly", run: 5)
        #expect(try await open("weekly").isEmpty)

        let origin = RowOrigin(
            app: world.app,
            job: "nightly",
            run: 6,
            stream: .transactionHistory,
            listedTransactionID: nil
        )
        let dismissed = try await world.ledger.unresolvedRejects(of: world.app, after: 0, atMost: 10)
            .filter(\.isDismissed)
        try #require(dismissed.count == 3)
        _ = try await world.ledger.write(
            PageRows(Rows.transaction("10")),
            from: origin,
            resolving: [dismissed[1].recordID]
        )
        _ = try await write(reject(1, signature: 14), in: world, run: 7)
        #expect(try await open().count == 3)
    }
}
