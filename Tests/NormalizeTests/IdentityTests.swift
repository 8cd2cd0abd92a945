import AppStoreModel
import LedgerSchema
import Postgres
import Testing

struct IdentityTests {
    @Test(arguments: [#""com.example.other""#, #""com.example.Game""#, "null", "5", #""com.example.game\u200b""#])
    func `J30 a transaction of another app is rejected`(_ bundleId: String) throws {
        let world = try RecordWorld()
        let rows = try world.normalize(transactions: world.transaction(["bundleId": bundleId]))
        #expect(rows.rejected.map(\.reason) == ["bundle"])
        #expect(rows.snapshots.isEmpty)
    }

    @Test(arguments: [
        (AppStoreEnvironment.production, AppStoreEnvironment.sandbox), (.sandbox, .production),
    ])
    func `J31 a record of the other environment is rejected`(
        _ job: AppStoreEnvironment,
        _ record: AppStoreEnvironment
    ) throws {
        let world = try RecordWorld(job)
        let environment = "\"\(record.rawValue)\""
        let transaction = try world.normalize(transactions: world.transaction(["environment": environment]))
        let notification = try world.normalize(
            notifications: world.notification(["data": world.data(["environment": environment])])
        )
        #expect(transaction.rejected.map(\.reason) == ["environment"])
        #expect(notification.rejected.map(\.reason) == ["environment"])
    }

    @Test(arguments: ["99", "null", #""1234567890""#, "1234567890.0"])
    func `J32 a production notification of another app number is rejected`(_ number: String) throws {
        let world = try RecordWorld()
        let rows = try world.normalize(notifications: world.notification(["data": world.data(["appAppleId": number])]))
        #expect(rows.rejected.map(\.reason) == ["app_id"])
        #expect(rows.snapshots.isEmpty)
    }

    @Test
    func `J32 the sandbox has no app number to compare`() throws {
        let world = try RecordWorld(.sandbox)
        let rows = try world.normalize(notifications: world.notification(["data": world.data(["appAppleId": nil])]))
        #expect(rows.remarks == [])
        #expect(rows.snapshots.count == 1)
    }

    @Test(arguments: [#""Xcode""#, #""LocalTesting""#, #""xcode""#, #""production""#, "null", "1"])
    func `J34 J35 no environment but the job's own can be loaded, however well it is signed`(_ environment: String)
        throws
    {
        for job in AppStoreEnvironment.allCases {
            let world = try RecordWorld(job)
            let rows = try world.normalize(transactions: world.transaction(["environment": environment]))
            #expect(rows.rejected.map(\.reason) == ["environment"])
            #expect(rows.snapshots.isEmpty)
        }
    }

    @Test(arguments: [
        ("data", "bundleId", #""com.other""#, "bundle"), ("summary", "bundleId", #""com.other""#, "bundle"),
        ("appData", "environment", #""Sandbox""#, "environment"), ("summary", "appAppleId", "1", "app_id"),
    ])
    func `every part of a notification that names an app has to name this one`(
        _ part: String,
        _ field: String,
        _ value: String,
        _ reason: String
    ) throws {
        let world = try RecordWorld()
        let rows = try world.normalize(
            notifications: world.notification(["data": nil, part: world.data([field: value])])
        )
        #expect(rows.rejected.map(\.reason) == [reason])
    }

    @Test(arguments: [nil, "null", "[]", #""x""#])
    func `J65 a notification that names no app is rejected`(_ data: String?) throws {
        let world = try RecordWorld()
        let rows = try world.normalize(notifications: world.notification(["data": data]))
        #expect(rows.rejected.map(\.reason) == ["no_identity"])
    }

    @Test(arguments: [
        (AppStoreEnvironment.production, "abc", true), (.production, "SANDBOX_abc", false),
        (.sandbox, "SANDBOX_abc", true), (.sandbox, "abc", false),
    ])
    func `the ID of an external purchase token shows its environment`(
        _ job: AppStoreEnvironment,
        _ id: String,
        _ isOurs: Bool
    ) throws {
        let world = try RecordWorld(job)
        let token = """
            {"externalPurchaseId":"\(id)","bundleId":"\(RecordWorld.bundleId)","appAppleId":\(RecordWorld.appAppleId),
            "tokenCreationDate":1779999000000,"tokenExpirationDate":1779999900000,"tokenType":"ACQUISITION"}
            """
        let rows = try world.normalize(
            notifications: world.notification([
                "data": nil, "externalPurchaseToken": token, "notificationType": #""EXTERNAL_PURCHASE_TOKEN""#,
            ])
        )
        #expect(rows.rejected.map(\.reason) == (isOurs ? [] : ["environment"]))
        guard isOurs else { return }
        let snapshot = try #require(rows.snapshots.first)
        #expect(snapshot.cell("environment") == .text(job.rawValue))
        #expect(snapshot.cell("bundle_id") == .text(RecordWorld.bundleId))
        #expect(snapshot.cell("external_purchase_id") == .text(id))
        #expect(snapshot.cell("external_purchase_token_creation_date") == .timestamp(1_779_999_000_000))
        #expect(snapshot.cell("external_purchase_token_expiration_date") == .timestamp(1_779_999_900_000))
        #expect(snapshot.cell("external_purchase_token_type") == .text("ACQUISITION"))
    }
}
