import AppStoreModel
import TestSupport
import Testing

@testable import SignedData

/// Notifications that docs/evidence/bad-inputs.md names, on their way through the whole of `storeledger`.
@Suite(.migratedDatabase)
struct BadNotificationTests {
    @Test func `J32 J63 J64 J65 J66 N33 of a page of notifications each bad part costs itself`() async throws {
        let scene = try RecordStage.scenes(1)[0]
        let stranger = try RecordScene.authority(around: scene.now)
        let forged = try stranger.issuer.sign(payload: Array(scene.payload(["transactionId": #""63""#]).utf8))
        let foreign = try scene.signed(["transactionId": #""64""#, "bundleId": #""com.example.other""#])
        let later = "\(scene.now.rawValue - 1_000)"
        let items = [
            try item(scene, 1),
            try item(scene, 32, data: ["appAppleId": "99"]),
            try item(scene, 63, data: ["signedTransactionInfo": "\"\(forged)\""]),
            try item(scene, 64, data: ["signedTransactionInfo": "\"\(foreign)\""]),
            try item(scene, 65, ["data": nil]),
            try item(scene, 66),
            try item(scene, 66, ["signedDate": later, "subtype": #""BILLING_RECOVERY""#]),
            try item(scene, 67),
            try item(scene, 67, ["subtype": #""BILLING_RECOVERY""#]),
            #"{"sendAttempts":[]}"#,
            try item(scene, 33, attempts: #"[{"attemptDate":1779999000000,"sendAttemptResult":"ODD"}]"#),
            try item(
                scene,
                34,
                attempts: "["
                    + (0..<500).map { "{\"attemptDate\":\(1_779_999_000_000 + $0)}" }
                    .joined(separator: ",") + "]"
            ),
        ]
        let page = "{\"hasMore\":false,\"notificationHistory\":[\(items.joined(separator: ","))]}"
        let rule = #"{"endpoint":"notificationHistory","times":1,"fault":"garbageBody","body":"#
        let faults = RecordStage.faults([rule + BadRecord.quoted(page) + "}"])
        try await Stage.with(.init(customers: 1, faults: faults)) { stage in
            var job = stage.job
            job.transactionIds = nil
            job.streams = ["notificationHistory: {scope: app, startDate: -1h}"]
            try RecordStage.trust(scene.authority, in: &job, stage)
            // One window may be the store's own, and the store signs with its own root.
            job.store = job.store.replacing("own-root.cer", with: "own-root.cer, root.cer")
            try await stage.run(try await stage.migrated(job), expecting: 2)

            let book = try stage.book()
            let own = "notification_uuid::text LIKE '00000000-0000-4000-8000-%'"
            let loaded = try await book.column(
                "SELECT right(notification_uuid, 2) FROM notifications WHERE \(own) ORDER BY 1"
            )
            #expect(loaded == ["01", "33", "34", "63", "64", "66", "67"])
            let reasons = try await book.column("SELECT reason FROM rejected_records ORDER BY 1")
            #expect(reasons == ["app_id", "bundle", "chain", "conflict", "no_identity", "unreadable"])
            #expect(try await book.count("SELECT count(*) FROM transactions WHERE transaction_id IN ('63', '64')") == 0)
            #expect(
                try await book.column("SELECT subtype FROM notifications WHERE notification_uuid LIKE '%66'")
                    == ["BILLING_RECOVERY"]
            )
            // Both that contradict each other are in the archive.
            #expect(
                try await book.count("SELECT count(*) FROM signed_payloads WHERE record_key LIKE '00000000%67'") == 2
            )
            #expect(
                try await book.column(
                    "SELECT right(notification_uuid, 2) || ' ' || count(*) FROM notification_send_attempts WHERE \(own) GROUP BY notification_uuid ORDER BY 1"
                ) == ["33 1", "34 100"]
            )
            #expect(
                try await book.column("SELECT path FROM field_issues WHERE record_key LIKE '00000000%'")
                    == ["sendAttempts"]
            )
        }
    }

    private func item(
        _ scene: RecordScene,
        _ number: Int,
        _ changes: KeyValuePairs<String, String?> = [:],
        data: KeyValuePairs<String, String?> = [:],
        attempts: String = "[]"
    ) throws -> String {
        let about = jsonText(
            [
                ("bundleId", #""com.example.game""#), ("appAppleId", "1234567890"),
                ("environment", #""Production""#),
            ],
            changing: data
        )
        let payload = jsonText(
            [
                ("notificationUUID", "\"00000000-0000-4000-8000-0000000000\(number < 10 ? "0" : "")\(number)\""),
                ("notificationType", #""DID_RENEW""#), ("version", #""2.0""#),
                ("signedDate", "\(scene.signedDate.rawValue)"), ("data", about),
            ],
            changing: changes
        )
        return "{\"signedPayload\":\"\(try scene.signed(bytes: Array(payload.utf8)))\",\"sendAttempts\":\(attempts)}"
    }
}
