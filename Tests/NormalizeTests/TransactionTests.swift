import AppStoreModel
import Hashing
import LedgerSchema
import Postgres
import TestSupport
import Testing

struct TransactionTests {
    @Test
    func `a transaction becomes one snapshot, with its payload as it was signed`() throws {
        let world = try RecordWorld()
        let payload = world.transaction([
            "appAccountToken": #""AAAAAAAA-bbbb-4ccc-8ddd-0123456789EF""#, "storefront": #""USA""#,
            "isUpgraded": "true",
            "offerType": "3", "revocationPercentage": "50000", "quantity": "2",
            "commitmentInfo": #"{"billingPeriodNumber":2,"totalBillingPeriods":12,"commitmentPrice":119880}"#,
        ])
        let rows = try world.normalize(transactions: payload)
        let snapshot = try #require(rows.snapshots.first)
        #expect(rows.remarks == [])
        #expect(rows.snapshots.count == 1)
        #expect(snapshot.table == Tables.transactions)
        #expect(snapshot.key == "2000000000000001")
        #expect(snapshot.signedDate == 1_779_999_999_000)
        #expect(!snapshot.isRevoked)
        #expect(!rows.sawRevocation)
        #expect(snapshot.row.count == Tables.transactions.columns.count)
        #expect(snapshot.cell("transaction_id") == .text("2000000000000001"))
        #expect(snapshot.cell("price_milliunits") == .bigint(9_990))
        #expect(snapshot.cell("currency") == .text("USD"))
        #expect(snapshot.cell("storefront") == .text("USA"))
        #expect(snapshot.cell("purchase_date") == .timestamp(1_779_999_000_000))
        #expect(snapshot.cell("signed_date") == .timestamp(1_779_999_999_000))
        #expect(snapshot.cell("is_upgraded") == .boolean(true))
        #expect(snapshot.cell("offer_type") == .integer(3))
        #expect(snapshot.cell("quantity") == .integer(2))
        #expect(snapshot.cell("revocation_percentage_milliunits") == .integer(50_000))
        #expect(snapshot.cell("commitment_billing_period_number") == .integer(2))
        #expect(snapshot.cell("commitment_total_billing_periods") == .integer(12))
        #expect(snapshot.cell("commitment_price_milliunits") == .bigint(119_880))
        #expect(snapshot.cell("expires_date") == .null)
        #expect(snapshot.cell("payload") == .jsonb(Array(payload.utf8)))
        #expect(snapshot.cell("payload_sha256") == .bytea(SHA256.digest(of: Array(payload.utf8))))
        let token: [UInt8] = [
            0xAA, 0xAA, 0xAA, 0xAA, 0xBB, 0xBB, 0x4C, 0xCC, 0x8D, 0xDD, 0x01, 0x23, 0x45, 0x67, 0x89, 0xEF,
        ]
        #expect(snapshot.cell("app_account_token") == .uuid(token))
    }

    @Test
    func `the archive has all that verifying again needs`() throws {
        let world = try RecordWorld()
        let jws = try world.sign(world.transaction())
        let archived = try #require(world.normalize(.transaction(jws: jws)).archive.first)
        #expect(archived.kind == .transaction)
        #expect(archived.recordKey == "2000000000000001")
        #expect(archived.signedDate == 1_779_999_999_000)
        let again = [
            archived.header, Base64.encodeURL(archived.payload), Base64.encodeURL(archived.signature),
        ]
        #expect(again.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".") == jws)
    }

    @Test
    func `a refund is a refund and the newest state of its transaction`() throws {
        let world = try RecordWorld()
        let payload = world.transaction([
            "revocationDate": "1779999998000", "revocationReason": "1", "revocationType": #""REFUND_FULL""#,
            "brandNew": "1",
        ])
        let rows = try world.normalize(transactions: payload, areRefunds: true)
        #expect(rows.snapshots.map(\.table.name) == ["transactions", "refunds"])
        #expect(rows.snapshots.allSatisfy { $0.isRevoked && $0.key == "2000000000000001" })
        #expect(rows.archive.count == 1)
        #expect(rows.drift.count == 1)
        #expect(rows.sawRevocation)
        let refund = try #require(rows.snapshots.last)
        #expect(refund.cell("revocation_date") == .timestamp(1_779_999_998_000))
        #expect(refund.cell("revocation_reason") == .integer(1))
        #expect(refund.cell("price_milliunits") == .bigint(9_990))
        #expect(refund.cell("payload") == .jsonb(Array(payload.utf8)))
        #expect(refund.children.isEmpty)
    }

    @Test
    func `J59 control characters and turned reading directions are kept in the cell and stay out of messages`() throws {
        let world = try RecordWorld()
        let rows = try world.normalize(
            transactions: world.transaction([
                "productId": #""\u001b[2Jx\nlevel=error\u202e""#, "type": #""\u001b[2J\nlevel=error\u202e""#,
                "bundle\\u202eId": #""\u001b\n\u202e""#,
            ])
        )
        #expect(rows.snapshots.first?.cell("product_id") == .text("\u{1B}[2Jx\nlevel=error\u{202E}"))
        #expect(rows.rejected.isEmpty)
        #expect(rows.drift.count == 2)
        for text in rows.drift.flatMap({ [$0.path, $0.sample] }) {
            #expect(!text.unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{202E}" }, "\(text)")
        }
    }

    @Test
    func `J33 a transaction of another family is loaded under its own original ID`() throws {
        let world = try RecordWorld()
        let rows = try world.normalize(transactions: world.transaction(["originalTransactionId": #""999""#]))
        #expect(rows.snapshots.first?.cell("original_transaction_id") == .text("999"))
        #expect(rows.remarks == [])
    }

    @Test(arguments: ["transactionId", "bundleId", "environment", "signedDate"])
    func `a transaction without what names it is rejected and kept`(_ field: String) throws {
        let world = try RecordWorld()
        let jws = try world.sign(world.transaction([field: nil]))
        let rows = world.normalize(.transaction(jws: jws))
        let reasons = [
            "transactionId": "missing_key", "bundleId": "bundle", "environment": "environment",
            "signedDate": "signed_date",
        ]
        #expect(rows.snapshots.isEmpty)
        #expect(rows.archive.isEmpty)
        #expect(rows.rejected.map(\.reason) == [reasons[field]])
        #expect(rows.rejected.first?.raw == Array(jws.utf8))
        #expect(rows.rejected.first?.sha256 == SHA256.digest(of: Array(jws.utf8)))
    }

    @Test(arguments: ["null", "5", #""""#, "\"\(String(repeating: "9", count: 257))\""])
    func `a key that cannot name a record is missing`(_ id: String) throws {
        let world = try RecordWorld()
        let rows = try world.normalize(transactions: world.transaction(["transactionId": id]))
        #expect(rows.rejected.map(\.reason) == ["missing_key"])
    }

    /// Members of a payload, which the log of the tests shows by their name: some have millions of bytes.
    struct Members: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let text: String

        init(_ testDescription: String, _ text: String) {
            self.testDescription = testDescription
            self.text = text
        }
    }

    @Test(arguments: [
        Members("N19 200,000 keys", (0..<200_000).map { "\"k\($0)\":0" }.joined(separator: ",")),
        Members("N20 a string of 3 MiB", "\"x\":\"" + String(repeating: "x", count: 3 << 20) + "\""),
        Members("N21 a number of 1,000,000 digits", "\"x\":" + String(repeating: "9", count: 1_000_000)),
        Members("J54 10 MiB", "\"x\":\"" + String(repeating: "x", count: 10 << 20) + "\""),
        Members("N18 100,000 levels", "\"x\":" + String(repeating: "[", count: 100_000)),
    ])
    func `a signed payload of any size is refused before it is read`(members: Members) throws {
        let world = try RecordWorld()
        let jws = try world.sign("{\(members.text)}")
        let began = threadCPUSeconds()
        let rows = world.normalize(.transaction(jws: jws))
        let took = threadCPUSeconds() - began
        #expect(rows.rejected.map(\.reason) == ["size"])
        #expect(took < 1)
    }

    @Test
    func `J10 one bad record costs itself, not its page`() throws {
        let world = try RecordWorld()
        let other = try RecordWorld()
        let rows = world.normalize(
            .transaction(jws: try other.sign(other.transaction())),
            .transaction(jws: "a.b"),
            .unreadable("null"),
            .transaction(jws: try world.sign(world.transaction()))
        )
        #expect(rows.rejected.map(\.reason) == ["chain", "format", "unreadable"])
        #expect(rows.rejected.last?.raw == Array("null".utf8))
        #expect(rows.snapshots.count == 1)
    }
}
