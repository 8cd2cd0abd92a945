import AppStoreModel
import LedgerSchema
import Postgres
import Streams
import Testing

/// What Apple answers without signing it counts only together with the signed records that belong to it.
struct UnsignedAnswerTests {
    private static let subscription = "2000000000000000"

    private func item(
        _ world: RecordWorld,
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
        let world = try RecordWorld()
        let rows = try world.normalize(item(world), from: .subscriptionStatuses)
        #expect(rows.remarks == [])
        #expect(Set(rows.snapshots.map(\.table.name)) == ["transactions", "renewals"])
        #expect(rows.archive.count == 2)
        let answer = try #require(rows.answers.first)
        #expect(rows.answers.count == 1 && answer.kind == .subscriptionStatus)
        #expect(
            answer.row == [
                .text(Self.subscription), .text("21"), .integer(3), .text("2000000000000001"),
                .timestamp(1_779_999_999_000), .null,
            ]
        )
    }

    @Test func `a status that Apple may add later loads as its number`() throws {
        let world = try RecordWorld()
        let rows = try world.normalize(item(world, status: 9), from: .subscriptionStatuses)
        #expect(rows.answers.first?.row[2] == .integer(9) && rows.remarks == [])
    }

    @Test func `ST4 a status whose signed records are of another subscription is rejected, the records load`() throws {
        let world = try RecordWorld()
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

    @Test func `the reject of a status is the same one when Apple signs its records again, and names its subscription`()
        throws
    {
        let world = try RecordWorld()
        let other = #""2000000000000099""#
        let nights = try ["1779999998000", "1779999999000"].map { signed in
            let renewal = try world.sign(world.renewal(["originalTransactionId": other, "signedDate": signed]))
            return try #require(
                try world.normalize(item(world, renewal: renewal), from: .subscriptionStatuses).rejected.first
            )
        }
        #expect(nights[0].identity == nights[1].identity && nights[0].sha256 == nights[1].sha256)
        // The next answer that loads resolves it.
        let answer = try world.normalize(item(world), from: .subscriptionStatuses).answers.first
        #expect(answer?.rejectIdentity == nights[0].sha256)
        let renewal = try world.sign(world.renewal(["originalTransactionId": other]))
        let another = try world.normalize(
            item(world, id: "2000000000000001", renewal: renewal),
            from: .subscriptionStatuses
        )
        #expect(another.rejected.first?.identity != nights[0].identity)
    }

    @Test
    func `ST9 a status that lacks an unsigned member is rejected by that member's name, and its signed records load`()
        throws
    {
        let world = try RecordWorld()
        let transaction = try world.sign(world.transaction())
        let renewal = try world.sign(world.renewal())
        let complete = [
            "originalTransactionId": "\"\(Self.subscription)\"", "status": "3",
            "signedTransactionInfo": "\"\(transaction)\"", "signedRenewalInfo": "\"\(renewal)\"",
        ]
        for (member, value, loaded, detail) in [
            ("status", #""3""#, ["renewals", "transactions"], "status is a string; it must be an integer."),
            ("status", nil, ["renewals", "transactions"], "status is missing; it must be an integer."),
            (
                "originalTransactionId", nil, ["renewals", "transactions"],
                "originalTransactionId is missing; it must be text."
            ),
            ("signedRenewalInfo", nil, ["transactions"], "signedRenewalInfo is missing; it must be a JWS."),
            ("signedTransactionInfo", "null", ["renewals"], "signedTransactionInfo is null; it must be a JWS."),
        ] as [(String, String?, [String], String)] {
            var members = complete
            members[member] = value
            let item = members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
            let body = #"{"data":[{"subscriptionGroupIdentifier":"21","lastTransactions":[{\#(item)}]}]}"#
            let page = try PageDecoder.unpagedList(
                Array(body.utf8),
                records: "data",
                read: PageDecoder.subscriptionGroup
            )
            let rows = world.normalize(try #require(page.records.first), from: .subscriptionStatuses)
            #expect(rows.answers.isEmpty && rows.snapshots.map(\.table.name).sorted() == loaded, "\(member)")
            #expect(rows.rejected.map(\.reason) == ["unreadable"])
            // The subscription is known from the renewal info too.
            #expect(rows.rejected.first?.detail == "Subscription \(Self.subscription): \(detail)")
        }
    }

    @Test func `ST10 an order that is called invalid and has transactions is rejected, its transactions load`() throws {
        let world = try RecordWorld()
        let rows = world.normalize(
            .order(isValid: false, transactions: [try world.sign(world.transaction())]),
            item: "MK5TVRJBTF"
        )
        #expect(rows.answers.isEmpty && rows.snapshots.map(\.table.name) == ["transactions"])
        let rejected = try #require(rows.rejected.first)
        #expect(rows.rejected.count == 1 && rejected.reason == "contradiction")
        #expect(
            rejected.detail == "status is 1 (invalid), but signedTransactions has 1; an invalid order has none."
        )
        // An erasure finds the reject by the transaction.
        #expect(String(decoding: rejected.raw, as: UTF8.self).contains("2000000000000001"))
        let valid = world.normalize(
            .order(isValid: true, transactions: [try world.sign(world.transaction())]),
            item: "MK5TVRJBTF"
        )
        #expect(valid.answers.first?.rejectIdentity == rejected.sha256)
    }

    @Test func `a status whose signed record fails verification does not load`() throws {
        let world = try RecordWorld()
        let forged = try RecordWorld().sign(world.renewal())
        let rows = try world.normalize(item(world, renewal: forged), from: .subscriptionStatuses)
        #expect(rows.answers.isEmpty && rows.rejected.map(\.reason) == ["chain"])
        #expect(rows.snapshots.map(\.table.name) == ["transactions"])
    }

    @Test func `a valid order has its transactions, an invalid one has none`() throws {
        let world = try RecordWorld()
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
        let world = try RecordWorld()
        let foreign = try world.sign(world.transaction(["bundleId": #""com.example.other""#]))
        let rows = world.normalize(.order(isValid: true, transactions: [foreign]), item: "MK5TVRJBTF")
        #expect(rows.answers.isEmpty && rows.snapshots.isEmpty && rows.rejected.map(\.reason) == ["bundle"])
    }

    @Test func `an app transaction has a separate row, and its fields fill the notification that carries it`() throws {
        let world = try RecordWorld()
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
