import AppStoreModel
import LedgerSchema
import Postgres
import Streams
import StrictJSON
import Testing

struct SendAttemptTests {
    private static let uuid = Cell.text("11111111-2222-3333-4444-555555555555")

    @Test
    func `send attempts are rows of their notification, each once`() throws {
        let world = try RecordWorld()
        let rows = try world.normalize(
            notifications: world.notification(),
            sendAttempts: """
                [{"attemptDate":1779999000000,"sendAttemptResult":"TIMED_OUT"},{"attemptDate":1779999000000},
                {"attemptDate":1779999100000,"sendAttemptResult":"SUCCESS"}]
                """
        )
        #expect(
            rows.sendAttempts == [
                [Self.uuid, .timestamp(1_779_999_000_000), .text("TIMED_OUT")],
                [Self.uuid, .timestamp(1_779_999_100_000), .text("SUCCESS")],
            ]
        )
        #expect(rows.remarks == [])
    }

    @Test
    func `N33 an unknown result is kept, and five hundred attempts are a hundred`() throws {
        let world = try RecordWorld()
        let attempts = (0..<500).map { #"{"attemptDate":\#(1_779_999_000_000 + $0),"sendAttemptResult":"ODD"}"# }
        let rows = try world.normalize(
            notifications: world.notification(),
            sendAttempts: "[\(attempts.joined(separator: ","))]"
        )
        #expect(rows.sendAttempts.count == 100)
        #expect(rows.sendAttempts.first?.last == .text("ODD"))
        #expect(Set(rows.drift.map(\.path)) == ["sendAttempts[].sendAttemptResult=ODD"])
        #expect(rows.issues.map(\.path) == ["sendAttempts"])
        #expect(rows.snapshots.count == 1)
    }

    @Test
    func `N33 an attempt that cannot be read is an issue, and the notification loads`() throws {
        let world = try RecordWorld()
        let rows = try world.normalize(
            notifications: world.notification(),
            sendAttempts:
                #"[5,{"sendAttemptResult":"SUCCESS"},{"attemptDate":"x"},{"attemptDate":1779999000000,"sendAttemptResult":7}]"#
        )
        #expect(rows.sendAttempts == [[Self.uuid, .timestamp(1_779_999_000_000), .null]])
        #expect(
            rows.issues.map(\.path) == [
                "sendAttempts[0]", "sendAttempts[1]", "sendAttempts[2].attemptDate", "sendAttempts[2]",
                "sendAttempts[3].sendAttemptResult",
            ]
        )
        #expect(rows.snapshots.count == 1)
    }

    @Test
    func `attempts of a notification that failed verification are not loaded`() throws {
        let world = try RecordWorld()
        let forged = try RecordWorld().sign(world.notification())
        let attempt = try StrictJSON.scan(Array(#"{"attemptDate":1779999000000}"#.utf8))
        let rows = world.normalize(.notification(jws: forged, sendAttempts: [attempt]), from: .notificationHistory)
        #expect(rows.sendAttempts.isEmpty)
        #expect(rows.rejected.count == 1)
    }
}
