import AppStoreModel
import Hashing
import LedgerSchema
import Postgres
import Streams
import Testing

struct DuplicateTests {
    @Test(arguments: [false, true])
    func `N31 D05 of one transaction twice on a page the newest signedDate is kept`(_ isNewestFirst: Bool) throws {
        let world = try RecordWorld()
        let old = world.transaction(["productId": "5"])
        let new = world.transaction(["signedDate": "1779999999001", "price": "1"])
        let rows = try isNewestFirst ? world.normalize(transactions: new, old) : world.normalize(transactions: old, new)
        #expect(rows.snapshots.map(\.signedDate) == [1_779_999_999_001])
        #expect(rows.snapshots.first?.cell("price_milliunits") == .bigint(1))
        #expect(rows.archive.count == 2)
        #expect(rows.issues.isEmpty, "the issue was of the snapshot that lost")
        #expect(rows.rejected.isEmpty)
    }

    @Test(arguments: [false, true])
    func `of one transaction twice on a page the newest keeps the price that only the other has`(_ isNewestFirst: Bool)
        throws
    {
        let world = try RecordWorld()
        let old = world.transaction()
        let new = world.transaction(["signedDate": "1779999999001", "price": nil, "currency": nil])
        let rows = try isNewestFirst ? world.normalize(transactions: new, old) : world.normalize(transactions: old, new)
        let kept = try #require(rows.snapshots.first)
        #expect(rows.snapshots.count == 1 && kept.signedDate == 1_779_999_999_001)
        #expect(kept.cell("price_milliunits") == .null, "the row says what was signed")
        #expect(kept.addedFacts == ["price_milliunits": .bigint(9_990), "currency": .text("USD")])
    }

    @Test
    func `J47 one payload in two signed texts is one record`() throws {
        let world = try RecordWorld()
        let first = try world.sign(world.transaction())
        let second = try world.sign(world.transaction())
        let rows = world.normalize(.transaction(jws: first), .transaction(jws: second))
        #expect(first != second)
        #expect(rows.snapshots.count == 1)
        #expect(rows.archive.count == 1)
        #expect(rows.remarks == [])
    }

    @Test(arguments: [false, true])
    func `J67 of one signedDate the revoked snapshot is kept, then the greater hash`(_ isReversed: Bool) throws {
        let world = try RecordWorld()
        let revoked = world.transaction(["revocationDate": "1779999998000"])
        let others = ["1", "2", "3"].map { world.transaction(["price": $0]) }
        func keep(_ payloads: [String]) throws -> Snapshot? {
            let records = try payloads.map { PageRecord.transaction(jws: try world.sign($0)) }
            let ordered = isReversed ? Array(records.reversed()) : records
            var kept: [Snapshot] = []
            switch ordered.count {
            case 2: kept = world.normalize(ordered[0], ordered[1]).snapshots
            default: kept = world.normalize(ordered[0], ordered[1], ordered[2]).snapshots
            }
            #expect(kept.count == 1)
            return kept.first
        }
        for other in others {
            #expect(try keep([revoked, other])?.isRevoked == true)
        }
        let greatest = others.map { SHA256.digest(of: Array($0.utf8)) }.max { $0.lexicographicallyPrecedes($1) }
        #expect(try keep(others)?.payloadSHA256 == greatest)
    }

    @Test
    func `J66 of two notifications with one UUID the newer is kept`() throws {
        let world = try RecordWorld()
        let rows = try world.normalize(
            notifications: world.notification(),
            world.notification(["signedDate": "1779999999001", "subtype": #""BILLING_RECOVERY""#])
        )
        #expect(rows.snapshots.map(\.signedDate) == [1_779_999_999_001])
        #expect(rows.rejected.isEmpty)
    }

    @Test
    func `J66 of two different notifications with one UUID and one signedDate one is filed, as the text it came in`()
        throws
    {
        let world = try RecordWorld()
        let texts = try [world.notification(), world.notification(["subtype": #""BILLING_RECOVERY""#])].map(world.sign)
        let records = texts.map { PageRecord.notification(jws: $0, sendAttempts: []) }
        for rows in [
            world.normalize(records[0], records[1], from: .notificationHistory),
            world.normalize(records[1], records[0], from: .notificationHistory),
        ] {
            #expect(rows.snapshots.count == 1)
            #expect(rows.archive.count == 2)
            #expect(rows.rejected.map(\.reason) == ["conflict"])
            let loser = rows.archive.firstIndex { $0.payloadSHA256 != rows.snapshots[0].payloadSHA256 }
            let signature = try #require(loser.map { rows.archive[$0].signature })
            let lost = texts.filter { $0.hasSuffix("." + String(decoding: Base64.encodeURL(signature), as: UTF8.self)) }
            #expect(rows.rejected.map { String(decoding: $0.raw, as: UTF8.self) } == lost)
        }
    }

    @Test
    func `a notification that was signed twice is no conflict in an archive, and the same one stays in either order`()
        throws
    {
        let world = try RecordWorld()
        let (first, second) = (world.notification(), world.notification(["subtype": #""BILLING_RECOVERY""#]))
        let rows = [try world.normalize(archived: first, second), try world.normalize(archived: second, first)]
        #expect(rows.allSatisfy { $0.rejected.isEmpty && $0.snapshots.count == 1 && $0.archive.count == 2 })
        #expect(rows[0].snapshots[0].payloadSHA256 == rows[1].snapshots[0].payloadSHA256)
    }

    @Test
    func `keys that only look the same are two records`() throws {
        let world = try RecordWorld()
        let rows = try world.normalize(
            transactions: world.transaction(["transactionId": #""e\u0301""#]),
            world.transaction(["transactionId": #""\u00e9""#])
        )
        #expect(rows.snapshots.count == 2)
    }
}
