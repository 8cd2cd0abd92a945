import AppStoreModel
import LedgerSchema
import Postgres
import Testing

/// Fields and values that Apple has added since the tables were made, and those that it adds later.
struct NewerFieldTests {
    @Test
    func `a transaction of an organization or group fills its columns, and nothing in it is unknown`() throws {
        let world = try RecordWorld()
        let rows = try world.normalize(
            transactions: world.transaction([
                "inAppOwnershipType": #""ASSIGNED""#, "revocationType": #""ASSIGNMENT_REVOKE""#,
                "revocationDate": "1779999998000", "quantity": "25", "offerDiscountType": #""ONE_TIME""#,
                "billingPlanType": #""MONTHLY""#, "additionalTransactionReason": #""SEAT_ADDITION""#,
                "multiSeatInfo": #"{"invitationManagement":"DEVELOPER","revokedSeatQuantity":3}"#,
                "commitmentInfo": """
                {"billingPeriodNumber":2,"totalBillingPeriods":12,"commitmentExpiresDate":1780000000000,
                "commitmentPrice":119880}
                """,
            ])
        )
        let snapshot = try #require(rows.snapshots.first)
        #expect(rows.remarks == [])
        #expect(snapshot.cell("in_app_ownership_type") == .text("ASSIGNED"))
        #expect(snapshot.cell("revocation_type") == .text("ASSIGNMENT_REVOKE"))
        #expect(snapshot.cell("quantity") == .integer(25))
        #expect(snapshot.cell("offer_discount_type") == .text("ONE_TIME"))
        #expect(snapshot.cell("additional_transaction_reason") == .text("SEAT_ADDITION"))
        #expect(snapshot.cell("invitation_management") == .text("DEVELOPER"))
        #expect(snapshot.cell("revoked_seat_quantity") == .integer(3))
        #expect(snapshot.cell("billing_plan_type") == .text("MONTHLY"))
        #expect(snapshot.cell("commitment_billing_period_number") == .integer(2))
        #expect(snapshot.cell("commitment_total_billing_periods") == .integer(12))
        #expect(snapshot.cell("commitment_expires_date") == .timestamp(1_780_000_000_000))
        #expect(snapshot.cell("commitment_price_milliunits") == .bigint(119_880))
    }

    @Test
    func `renewal info says how many seats renew, and with which commitment`() throws {
        let world = try RecordWorld()
        let rows = try world.normalize(
            anyKind: world.renewal([
                "renewalQuantity": "20", "renewalBillingPlanType": #""BILLED_UPFRONT""#,
                "commitmentInfo": """
                {"commitmentAutoRenewProductId":"pro.yearly","commitmentAutoRenewStatus":1,
                "commitmentRenewalBillingPlanType":"MONTHLY","commitmentRenewalDate":1780000000000,
                "commitmentRenewalPrice":9990}
                """,
            ])
        )
        let snapshot = try #require(rows.snapshots.first)
        #expect(rows.remarks == [])
        #expect(snapshot.cell("renewal_quantity") == .integer(20))
        #expect(snapshot.cell("renewal_billing_plan_type") == .text("BILLED_UPFRONT"))
        #expect(snapshot.cell("commitment_auto_renew_product_id") == .text("pro.yearly"))
        #expect(snapshot.cell("commitment_auto_renew_status") == .integer(1))
        #expect(snapshot.cell("commitment_renewal_billing_plan_type") == .text("MONTHLY"))
        #expect(snapshot.cell("commitment_renewal_date") == .timestamp(1_780_000_000_000))
        #expect(snapshot.cell("commitment_renewal_price_milliunits") == .bigint(9_990))
    }

    @Test
    func `the store of an app transaction is in the row of its notification`() throws {
        let world = try RecordWorld()
        let signed = try world.sign(world.appTransaction(["storeType": #""CONSUMER""#]))
        let rows = try world.normalize(
            notifications: world.notification([
                "data": nil, "notificationType": #""RESCIND_CONSENT""#,
                "appData": world.data(["signedAppTransactionInfo": "\"\(signed)\""]),
            ])
        )
        #expect(rows.remarks == [])
        #expect(rows.snapshots(of: Tables.notifications).first?.cell("app_transaction_store_type") == .text("CONSUMER"))
    }

    @Test(arguments: ["ACQUISITION", "CORE_TECHNOLOGY", "IN_APP", "LINK_OUT", "SERVICES"])
    func `every type of external purchase token that Apple names is known`(type: String) throws {
        let world = try RecordWorld()
        let rows = try world.normalize(notifications: Self.token(type, in: world))
        #expect(rows.remarks == [])
        #expect(rows.snapshots.first?.cell("external_purchase_token_type") == .text(type))
    }

    @Test(
        arguments: [
            ("REFUND", "SEATS"), ("DID_CHANGE_RENEWAL_PREF", "INCREASE_QUANTITY"),
            ("DID_CHANGE_RENEWAL_PREF", "DECREASE_QUANTITY"), ("UNCLAIM_SEATS", nil),
        ] as [(String, String?)]
    )
    func `a notification about seats has a known type and subtype`(type: String, subtype: String?) throws {
        let world = try RecordWorld()
        let rows = try world.normalize(
            notifications: world.notification([
                "notificationType": "\"\(type)\"", "subtype": subtype.map { "\"\($0)\"" },
            ])
        )
        #expect(rows.remarks == [])
        #expect(rows.snapshots.first?.cell("notification_type") == .text(type))
    }

    /// A field, and a value of a known field, that no version of Apple's has yet, in one record of each kind.
    @Test(arguments: [
        (RecordKind.transaction, ["inAppOwnershipType=LENT", "future", "multiSeatInfo.future"]),
        (.renewalInfo, ["commitmentInfo.future", "renewalBillingPlanType=WEEKLY", "future"]),
        (.appTransaction, ["storeType=LIBRARY", "future"]),
        (.notification, ["notificationType=FUTURE", "externalPurchaseToken.tokenType=FUTURE", "future"]),
    ])
    func `an unknown newer field or value of any kind of record is counted, and costs nothing`(
        kind: RecordKind,
        drift: [String]
    ) throws {
        let world = try RecordWorld()
        let future = #"{"a":[1,2]}"#
        let rows: PageRows =
            switch kind {
            case .transaction:
                try world.normalize(
                    transactions: world.transaction([
                        "inAppOwnershipType": #""LENT""#, "future": future, "multiSeatInfo": #"{"future":1}"#,
                    ])
                )
            case .renewalInfo:
                try world.normalize(
                    anyKind: world.renewal([
                        "commitmentInfo": #"{"future":1}"#, "renewalBillingPlanType": #""WEEKLY""#, "future": future,
                    ])
                )
            case .appTransaction:
                try world.normalize(
                    notifications: world.notification([
                        "data": nil,
                        "appData": world.data([
                            "signedAppTransactionInfo":
                                "\"\(world.sign(world.appTransaction(["storeType": #""LIBRARY""#, "future": future])))\""
                        ]),
                    ])
                )
            case .notification:
                try world.normalize(
                    notifications: Self.token("FUTURE", in: world, notificationType: "FUTURE", future: future)
                )
            }
        #expect(rows.rejected.isEmpty && rows.issues.isEmpty)
        #expect(rows.snapshots.count == (kind == .appTransaction ? 2 : 1))
        #expect(Set(rows.drift.map(\.path)) == Set(drift))
        #expect(Set(rows.drift.map(\.kind)) == [kind])
    }

    @Test
    func `a notification whose only part is newer than this version is loaded, if the part names the app`() throws {
        let world = try RecordWorld()
        let part = { (changes: KeyValuePairs<String, String?>) in
            try world.normalize(
                notifications: world.notification([
                    "data": nil, "notificationType": #""UNCLAIM_SEATS""#, "newerInfo": world.data(changes),
                ])
            )
        }
        let loaded = try part(["unclaimSeatIds": #"["AAAAAAAA-bbbb-4ccc-8ddd-0123456789EF"]"#])
        #expect(loaded.rejected.isEmpty && loaded.snapshots.count == 1)
        #expect(loaded.drift.map(\.path) == ["newerInfo"])
        for other: KeyValuePairs<String, String?> in [
            ["bundleId": #""com.other""#], ["environment": #""Sandbox""#], ["environment": nil], ["appAppleId": "1"],
        ] {
            #expect(try part(other).rejected.map(\.reason) == ["no_identity"])
        }
    }

    @Test(arguments: [true, false])
    func `the unclaimed seats are in a column, with or without the app's data`(hasData: Bool) throws {
        let world = try RecordWorld()
        let ids = ["AAAAAAAA-bbbb-4ccc-8ddd-0123456789EF", "aaaaaaaa-bbbb-4ccc-8ddd-0123456789f0"]
        let list = "[\"\(ids[0])\",\"\(ids[1])\"]"
        let type = #""UNCLAIM_SEATS""#
        let notification =
            hasData
            ? world.notification(["notificationType": type, "unclaimInfo": "{\"unclaimSeatIds\":\(list)}"])
            : world.notification([
                "notificationType": type, "data": nil,
                "unclaimInfo": world.data(["unclaimSeatIds": list]),
            ])
        let rows = try world.normalize(notifications: notification)
        #expect(rows.remarks == [])
        #expect(rows.snapshots.first { $0.table.name == "notifications" }?.cell("unclaim_seat_ids") == .textArray(ids))
    }

    @Test func `the price tiers of seats are no drift, and a newer field in a tier is`() throws {
        let world = try RecordWorld()
        let tiers = #"[{"price":9990,"quantity":5},{"price":7990,"quantity":3}]"#
        let known = try world.normalize(transactions: world.transaction(["multiSeatInfo": "{\"priceTiers\":\(tiers)}"]))
        #expect(known.remarks == [])
        let renewal = try world.normalize(
            anyKind: world.renewal(["multiSeatInfo": "{\"renewalPriceTiers\":\(tiers)}"])
        )
        #expect(renewal.remarks == [])
        let newer = try world.normalize(
            transactions: world.transaction(["multiSeatInfo": #"{"priceTiers":[{"price":1,"quantity":1,"future":1}]}"#])
        )
        #expect(newer.drift.map(\.path) == ["multiSeatInfo.priceTiers[].future"])
    }

    private static func token(
        _ type: String,
        in world: RecordWorld,
        notificationType: String = "EXTERNAL_PURCHASE_TOKEN",
        future: String? = nil
    ) -> String {
        let token = """
            {"externalPurchaseId":"abc","bundleId":"\(RecordWorld.bundleId)","appAppleId":\(RecordWorld.appAppleId),
            "tokenCreationDate":1779999000000,"tokenType":"\(type)"}
            """
        return world.notification([
            "data": nil, "notificationType": "\"\(notificationType)\"", "externalPurchaseToken": token,
            "future": future,
        ])
    }
}
