import LedgerSchema
import Testing

struct AnyKindTests {
    @Test func `a record without a noted kind loads as the kind that its keys show`() throws {
        let world = try RecordWorld()
        #expect(try world.normalize(anyKind: world.transaction()).snapshots.map(\.table) == [Tables.transactions])
        #expect(try world.normalize(anyKind: world.renewal()).snapshots.map(\.table) == [Tables.renewals])
        #expect(try world.normalize(anyKind: world.notification()).snapshots.map(\.table) == [Tables.notifications])
    }

    @Test func `a refund that was rejected once comes back as a refund`() throws {
        let world = try RecordWorld()
        let rows = try world.normalize(anyKind: world.transaction(["revocationDate": "1779999500000"]), isRefund: true)
        #expect(Set(rows.snapshots.map(\.table)) == [Tables.transactions, Tables.refunds])
    }

    @Test func `another app's transaction does not load as a renewal info, which names no app`() throws {
        let world = try RecordWorld()
        let rows = try world.normalize(anyKind: world.transaction(["bundleId": #""com.example.other""#]))
        #expect(rows.snapshots.isEmpty)
        #expect(rows.rejected.map(\.reason) == ["bundle"])
    }
}
