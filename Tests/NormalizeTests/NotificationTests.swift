import AppStoreModel
import LedgerSchema
import Postgres
import StrictJSON
import Testing

struct NotificationTests {
    private static func payload(of snapshot: Snapshot?) throws -> JSONObject {
        guard case .jsonb(let bytes)? = snapshot?.cell("payload") else { return JSONObject() }
        return try StrictJSON.parseObject(bytes)
    }

    @Test
    func `a notification loads with the transaction and the renewal signed inside it`() throws {
        let world = try RecordWorld()
        let transaction = world.transaction(["subscriptionGroupIdentifier": #""21""#])
        let renewal = world.renewal(["renewalPrice": "9990", "eligibleWinBackOfferIds": #"["a","b"]"#])
        let rows = try world.normalize(
            notifications: world.notification([
                "subtype": #""BILLING_RECOVERY""#,
                "data": world.data([
                    "status": "1", "bundleVersion": #""7""#, "consumptionRequestReason": #""LEGAL""#,
                    "signedTransactionInfo": "\"\(try world.sign(transaction))\"",
                    "signedRenewalInfo": "\"\(try world.sign(renewal))\"",
                ]),
            ])
        )
        #expect(rows.remarks == [])
        #expect(Set(rows.archive.map(\.kind)) == [.notification, .transaction, .renewalInfo])
        #expect(rows.snapshots(of: Tables.transactions).map(\.key) == ["2000000000000001"])
        let renewals = rows.snapshots(of: Tables.renewals)
        #expect(renewals.map(\.key) == ["2000000000000000"])
        #expect(renewals.first?.cell("renewal_price_milliunits") == .bigint(9_990))
        #expect(renewals.first?.cell("eligible_win_back_offer_ids") == .textArray(["a", "b"]))
        let notification = try #require(rows.snapshots(of: Tables.notifications).first)
        #expect(notification.key == "11111111-2222-3333-4444-555555555555")
        #expect(notification.cell("notification_type") == .text("DID_RENEW"))
        #expect(notification.cell("subtype") == .text("BILLING_RECOVERY"))
        #expect(notification.cell("environment") == .text("Production"))
        #expect(notification.cell("app_apple_id") == .bigint(RecordWorld.appAppleId))
        #expect(notification.cell("bundle_version") == .text("7"))
        #expect(notification.cell("status") == .integer(1))
        #expect(notification.cell("consumption_request_reason") == .text("LEGAL"))
        #expect(notification.cell("transaction_id") == .text("2000000000000001"))
        #expect(notification.cell("original_transaction_id") == .text("2000000000000000"))
        #expect(notification.cell("product_id") == .text("pro.monthly"))
        #expect(notification.cell("subscription_group_identifier") == .text("21"))
        let data = try Self.payload(of: notification)["data"]?.object
        #expect(data?["signedTransactionInfo"] == (try StrictJSON.parse(Array(transaction.utf8))))
        #expect(data?["signedRenewalInfo"] == (try StrictJSON.parse(Array(renewal.utf8))))
    }

    @Test
    func `J63 a nested record that fails verification is rejected, and its notification loads`() throws {
        let world = try RecordWorld()
        let forged = try RecordWorld().sign(world.transaction())
        let rows = try world.normalize(
            notifications: world.notification([
                "data": world.data([
                    "signedTransactionInfo": "\"\(forged)\"",
                    "signedRenewalInfo": "\"\(try world.sign(world.renewal()))\"",
                ])
            ])
        )
        #expect(rows.rejected.map(\.reason) == ["chain"])
        #expect(rows.rejected.first?.raw == Array(forged.utf8))
        #expect(rows.snapshots(of: Tables.transactions).isEmpty)
        let notification = try #require(rows.snapshots(of: Tables.notifications).first)
        #expect(notification.cell("transaction_id") == .null)
        #expect(notification.cell("original_transaction_id") == .text("2000000000000000"))
        #expect(try Self.payload(of: notification)["data"]?.object?["signedTransactionInfo"] == .null)
    }

    @Test(arguments: [
        ("bundleId", #""com.other""#, "bundle"), ("environment", #""Sandbox""#, "environment"),
        ("transactionId", nil, "missing_key"),
    ])
    func `J64 a nested record of another app is rejected by itself`(
        _ field: String,
        _ value: String?,
        _ reason: String
    ) throws {
        let world = try RecordWorld()
        let nested = try world.sign(world.transaction([field: value]))
        let rows = try world.normalize(
            notifications: world.notification(["data": world.data(["signedTransactionInfo": "\"\(nested)\""])])
        )
        #expect(rows.rejected.map(\.reason) == [reason])
        #expect(rows.snapshots.map(\.table.name) == ["notifications"])
    }

    @Test
    func `a nested field that is no text is an issue of the notification`() throws {
        let world = try RecordWorld()
        let rows = try world.normalize(
            notifications: world.notification(["data": world.data(["signedRenewalInfo": "5"])])
        )
        #expect(rows.issues.map(\.path) == ["data.signedRenewalInfo"])
        #expect(rows.snapshots.count == 1)
    }

    @Test
    func `J65 a test notification names its app in data`() throws {
        let world = try RecordWorld()
        let rows = try world.normalize(notifications: world.notification(["notificationType": #""TEST""#]))
        #expect(rows.remarks == [])
        #expect(rows.snapshots.count == 1)
    }

    @Test
    func `a summary notification fills its own columns`() throws {
        let world = try RecordWorld()
        let rows = try world.normalize(
            notifications: world.notification([
                "data": nil, "notificationType": #""RENEWAL_EXTENSION""#, "subtype": #""SUMMARY""#,
                "summary": world.data([
                    "productId": #""pro.monthly""#, "requestIdentifier": #""r""#,
                    "storefrontCountryCodes": #"["USA","DEU"]"#, "succeededCount": "5", "failedCount": "1",
                ]),
            ])
        )
        let snapshot = try #require(rows.snapshots.first)
        #expect(rows.remarks == [])
        #expect(snapshot.cell("bundle_id") == .text(RecordWorld.bundleId))
        #expect(snapshot.cell("product_id") == .null)
        #expect(snapshot.cell("summary_product_id") == .text("pro.monthly"))
        #expect(snapshot.cell("summary_request_identifier") == .text("r"))
        #expect(snapshot.cell("summary_storefront_country_codes") == .textArray(["USA", "DEU"]))
        #expect(snapshot.cell("summary_succeeded_count") == .bigint(5))
        #expect(snapshot.cell("summary_failed_count") == .bigint(1))
    }

    @Test
    func `the fields of an app transaction are in the row of its notification`() throws {
        let world = try RecordWorld()
        let signed = try world.sign(
            world.appTransaction(["versionExternalIdentifier": "7", "odd": "1", "preorderDate": "true"])
        )
        let rows = try world.normalize(
            notifications: world.notification([
                "data": nil, "notificationType": #""RESCIND_CONSENT""#,
                "appData": world.data(["signedAppTransactionInfo": "\"\(signed)\""]),
            ])
        )
        let snapshot = try #require(rows.snapshots(of: Tables.notifications).first)
        #expect(rows.snapshots.count == 2 && rows.snapshots(of: Tables.appTransactions).count == 1)
        #expect(rows.archive.map(\.kind) == [.notification, .appTransaction])
        #expect(rows.drift.map(\.kind) == [.appTransaction])
        #expect(rows.issues.map(\.kind) == [.appTransaction])
        #expect(snapshot.cell("app_transaction_id") == .text("700000000000000001"))
        #expect(snapshot.cell("app_transaction_original_platform") == .text("iOS"))
        #expect(snapshot.cell("app_transaction_version_external_identifier") == .bigint(7))
        #expect(snapshot.cell("app_transaction_receipt_creation_date") == .timestamp(1_779_999_999_000))
        #expect(try Self.payload(of: snapshot)["appData"]?.object?["signedAppTransactionInfo"]?.object != nil)
    }

    @Test
    func `a REFUND notification and a revoked nested transaction report a revocation`() throws {
        let world = try RecordWorld()
        let revoked = try world.sign(world.transaction(["revocationDate": "1779999998000"]))
        let refund = try world.normalize(notifications: world.notification(["notificationType": #""REFUND""#]))
        let nested = try world.normalize(
            notifications: world.notification(["data": world.data(["signedTransactionInfo": "\"\(revoked)\""])])
        )
        #expect(refund.sawRevocation)
        #expect(nested.sawRevocation)
        #expect(try !world.normalize(notifications: world.notification()).sawRevocation)
    }

    @Test(arguments: [nil, "7", #""""#])
    func `a notification without notificationUUID is rejected`(_ uuid: String?) throws {
        let world = try RecordWorld()
        let rows = try world.normalize(notifications: world.notification(["notificationUUID": uuid]))
        #expect(rows.rejected.map(\.reason) == ["missing_key"])
    }

    @Test
    func `a notification larger than any transaction may be is read`() throws {
        let world = try RecordWorld()
        let filler = "\"\(String(repeating: "x", count: 70_000))\""
        #expect(try world.normalize(notifications: world.notification(["filler": filler])).snapshots.count == 1)
        #expect(
            try world.normalize(transactions: world.transaction(["filler": filler])).rejected.map(\.reason) == ["size"]
        )
    }
}
