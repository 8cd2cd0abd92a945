import AppStoreModel
import JobPlan
import LedgerSchema
import Testing

/// What Apple answers without signing it counts only together with the signed records that belong to it.
struct UnsignedAnswerTests {
    private static let subscription = "2000000000000000"

    private func item(
        _ world: World,
        id: String = subscription,
        status: Int32 = 3,
        transaction: String? = nil,
        renewal: String? = nil
    ) throws -> PageRecord {
        .subscriptionStatus(
            SubscriptionStatusItem(
                subscriptionGroupIdentifier: "21",
                originalTransactionId: id,
                status: status,
                transaction: try transaction ?? world.sign(world.transaction()),
                renewalInfo: try renewal ?? world.sign(world.renewal()),
                text: #"{"originalTransactionId":"\#(id)"}"#
            )
        )
    }

    @Test func `a status loads with the transaction and the renewal info of its subscription`() throws {
        let world = try World()
        let rows = try world.normalize(item(world), from: .subscriptionStatuses)
        #expect(rows.remarks == [])
        #expect(Set(rows.snapshots.map(\.table.name)) == ["transactions", "renewals"])
        #expect(rows.archive.count == 2)
        let answer = try #require(rows.answers.first)
        #expect(rows.answers.count == 1 && answer.kind == .subscriptionStatus)
        #expect(answer.row == [.text(Self.subscription), .text("21"), .integer(3), .text("2000000000000001")])
    }

    @Test func `a status that Apple may add later loads as its number`() throws {
        let world = try World()
        let rows = try world.normalize(item(world, status: 9), from: .subscriptionStatuses)
        #expect(rows.answers.first?.row[2] == .integer(9) && rows.remarks == [])
    }

    @Test func `ST4 a status whose signed records are of another subscription is rejected, the records load`() throws {
        let world = try World()
        let other = try world.sign(world.transaction(["originalTransactionId": #""2000000000000099""#]))
        for (transaction, renewal, field) in [
            (other, nil, "signedTransactionInfo"),
            (
                nil, try world.sign(world.renewal(["originalTransactionId": #""2000000000000099""#])),
                "signedRenewalInfo"
            ),
        ] {
            let rows = try world.normalize(
                item(world, transaction: transaction, renewal: renewal),
                from: .subscriptionStatuses
            )
            #expect(rows.answers.isEmpty && rows.snapshots.count == 2)
            let rejected = try #require(rows.rejected.first)
            #expect(rejected.reason == "contradiction" && rejected.detail.contains(field), "\(rejected.detail)")
            #expect(String(decoding: rejected.raw, as: UTF8.self).contains(Self.subscription))
        }
    }

    @Test func `a status whose signed record fails verification does not load`() throws {
        let world = try World()
        let forged = try World().sign(world.renewal())
        let rows = try world.normalize(item(world, renewal: forged), from: .subscriptionStatuses)
        #expect(rows.answers.isEmpty && rows.rejected.map(\.reason) == ["chain"])
        #expect(rows.snapshots.map(\.table.name) == ["transactions"])
    }

    @Test func `a valid order has its transactions, an invalid one has none`() throws {
        let world = try World()
        let first = try world.sign(world.transaction())
        let second = try world.sign(world.transaction(["transactionId": #""2000000000000002""#]))
        let rows = world.normalize(.order(isValid: true, transactions: [first, second, first]), item: "MK5TVRJBTF")
        #expect(rows.remarks == [] && rows.snapshots.count == 2)
        #expect(rows.answers.first?.row == [.text("MK5TVRJBTF"), .integer(0)])
        #expect(
            rows.answers.first?.children.first?.rows == [
                [.text("MK5TVRJBTF"), .text("2000000000000001")], [.text("MK5TVRJBTF"), .text("2000000000000002")],
            ]
        )
        let invalid = world.normalize(.order(isValid: false, transactions: []), item: "MK5TVRJBTX")
        #expect(invalid.remarks == [] && invalid.snapshots.isEmpty)
        #expect(invalid.answers.first?.row == [.text("MK5TVRJBTX"), .integer(1)])
        #expect(invalid.answers.first?.children.first?.rows.isEmpty == true)
    }

    @Test func `ST5 an order with a transaction of another app does not load`() throws {
        let world = try World()
        let foreign = try world.sign(world.transaction(["bundleId": #""com.example.other""#]))
        let rows = world.normalize(.order(isValid: true, transactions: [foreign]), item: "MK5TVRJBTF")
        #expect(rows.answers.isEmpty && rows.snapshots.isEmpty && rows.rejected.map(\.reason) == ["bundle"])
    }

    @Test func `an app transaction has a row of its own, and its fields fill the notification that carries it`() throws
    {
        let world = try World()
        let payload = world.appTransaction([
            "originalPurchaseDate": "1700000000000", "preorderDate": "1690000000000", "storeType": #""CONSUMER""#,
        ])
        let rows = world.normalize(.appTransaction(jws: try world.sign(payload)), from: .appTransaction)
        let row = try #require(rows.snapshots(of: Tables.appTransactions).first)
        #expect(row.key == "700000000000000001" && rows.remarks == [])
        #expect(row.cell("original_purchase_date") == .timestamp(1_700_000_000_000))
        #expect(row.cell("store_type") == .text("CONSUMER"))
        #expect(row.cell("signed_date") == .timestamp(1_779_999_999_000))
        let nested = try world.normalize(
            notifications: world.notification([
                "data": nil,
                "appData": world.data(["signedAppTransactionInfo": "\"\(try world.sign(payload))\""]),
            ])
        )
        #expect(nested.snapshots(of: Tables.appTransactions).count == 1)
        let notification = try #require(nested.snapshots(of: Tables.notifications).first)
        #expect(notification.cell("app_transaction_preorder_date") == .timestamp(1_690_000_000_000))
        #expect(notification.cell("app_transaction_id") == .text("700000000000000001"))
    }
}
