import AppStoreModel
import TestSupport
import Testing

@testable import SignedData

/// What docs/evidence/bad-inputs.md says of requests that are no notification of the app.
@Suite(.migratedDatabase)
struct BadReceiptTests {
    @Test func `RN1 RN2 RN3 RN4 RN5 a notification that cannot be verified is answered 503 and kept with its reason`()
        async throws
    {
        try await ReceiverStage.with { stage in
            let scene = stage.scene
            let stranger = try RecordScene.authority(around: scene.now)
            let tomorrow = "\((scene.now + .seconds(2 * 86_400)).rawValue)"
            let expired = "\((scene.now - .seconds(500 * 86_400)).rawValue)"
            let bodies = [
                (try stage.notification(1, by: stranger.issuer), "chain"),
                (try forged(try stage.notification(2)), "signature"),
                (try stage.notification(3, ["signedDate": expired]), "validity"),
                (try stage.notification(4, ["signedDate": tomorrow]), "future"),
                (try stage.notification(5, data: ["bundleId": #""com.example.other""#]), "bundle"),
                (try stage.notification(6, data: ["environment": #""Sandbox""#]), "environment"),
                (try stage.notification(7, data: ["appAppleId": "99"]), "app_id"),
                (#"{"signedPayload":"not a JWS"}"#, "format"),
                (ReceiverStage.unsigned(password: "wrong"), "password"),
            ]
            let book = try stage.book()
            try await stage.receiving { receiver in
                for (body, _) in bodies { try await receiver.expect(503, body) }
                // The same text again is counted.
                try await receiver.expect(503, bodies[0].0)
                #expect(
                    try await book.column("SELECT refused_because || ' ' || receipts FROM received_notifications")
                        .sorted() == bodies.map { $0.1 == "chain" ? "chain 2" : "\($0.1) 1" }.sorted()
                )
                let metrics = try await receiver.metrics()
                #expect(metrics.contains("storeledger_receiver_refused_total{reason=\"chain\"} 2\n"))
                // A forged notification does not block the genuine one with the same UUID.
                try await receiver.expect(200, try stage.notification(1))
                try await stage.normalized(book)
            }
            #expect(try await book.count("SELECT count(*) FROM notifications") == 1)
            #expect(try await book.count("SELECT count(*) FROM transactions") == 1)
            #expect(try await book.count("SELECT count(*) FROM rejected_records") == 0)
        }
    }

    @Test func `RN6 RN7 a body that is no notification is answered 400`() async throws {
        try await ReceiverStage.with { stage in
            try await stage.receiving { receiver in
                for body in [
                    "", "x", "[]", "7", "null", "{}", #"{"signedPayload":7}"#, #"{"signedPayload":null}"#,
                    #"{"other":"text"}"#, #"{"notification_type":7}"#, "{\"signedPayload\":\"a\u{0}b\"}",
                    #"{"signedPayload":"a","signedPayload":"b"}"#, "{\"signedPayload\":\"a\"} more",
                    String(repeating: "[", count: 40), "\u{FEFF}{}",
                ] {
                    try await receiver.expect(400, body)
                }
                #expect(
                    try await receiver.metrics().contains(
                        "storeledger_receiver_refused_total{reason=\"unreadable\"} 15\n"
                    )
                )
            }
            #expect(try await stage.book().count("SELECT count(*) FROM received_notifications") == 0)
        }
    }

    @Test func `RN8 RN9 a body of more than 1 MiB is answered 413, also when its length is not given`() async throws {
        try await ReceiverStage.with { stage in
            try await stage.receiving { receiver in
                let large = String(repeating: "x", count: 10 * 1_024 * 1_024)
                try await receiver.expect(413, large)
                let chunk = "10000\r\n" + String(repeating: "y", count: 65_536) + "\r\n"
                // No chunk is the last one.
                let endless = String(repeating: chunk, count: 100)
                try await receiver.expect(413, endless, headers: ["Transfer-Encoding: chunked"])
                // The longest body that is read.
                let padding = String(repeating: " ", count: 1_024 * 1_024 - 2)
                try await receiver.expect(400, "{\(padding)}")
                try await receiver.expect(413, "{\(padding) }")
                // The receiver still works.
                try await receiver.expect(200, try stage.notification(1))
            }
        }
    }

    @Test func `RN10 a compressed body is answered 415, and never expanded`() async throws {
        try await ReceiverStage.with { stage in
            try await stage.receiving { receiver in
                for headers in [
                    ["Content-Encoding: gzip", "Content-Length: 4"], ["Content-Type: text/html", "Content-Length: 4"],
                ] { try await receiver.expect(415, "\u{1F}xyz", headers: headers) }
                let body = try stage.notification(1)
                let type = "Content-Type: application/json; charset=utf-8"
                try await receiver.expect(200, body, headers: [type, "Content-Length: \(body.utf8.count)"])
            }
        }
    }

    @Test func `RN11 another path is answered 404, another method 405`() async throws {
        try await ReceiverStage.with { stage in
            try await stage.receiving { receiver in
                let body = try stage.notification(1)
                try await receiver.expect(404, body, to: "/")
                try await receiver.expect(404, body, to: "/notifications/")
                try await receiver.expect(405, body, to: "/metrics")
                for method in ["GET", "PUT", "DELETE"] {
                    #expect(try await receiver.http.send(method, "/notifications", body).status == 405, "\(method)")
                }
                #expect(try await receiver.http.send(bytes: Array("not HTTP\r\n\r\n".utf8)).status == 400)
            }
            #expect(try await stage.book().count("SELECT count(*) FROM received_notifications") == 0)
        }
    }

    @Test func `RN12 of two contents under one UUID the newer one is in the ledger, and the other is kept`()
        async throws
    {
        try await ReceiverStage.with { stage in
            let later = "\(stage.scene.signedDate.rawValue + 1_000)"
            let book = try stage.book()
            try await stage.receiving { receiver in
                let bodies = [
                    try stage.notification(1), try stage.notification(1, ["subtype": #""SAME_DATE""#]),
                    try stage.notification(1, ["subtype": #""LATER""#, "signedDate": later]),
                    try stage.notification(1, ["subtype": #""EARLIER""#]),
                ]
                for body in bodies {
                    try await receiver.expect(200, body)
                    try await stage.normalized(book)
                }
            }
            #expect(try await book.column("SELECT subtype FROM notifications") == ["LATER"])
            #expect(
                try await book.column("SELECT coalesce(refused_because, subtype) FROM received_notifications").sorted()
                    == ["LATER", "conflict", "conflict"]
            )
        }
    }

    @Test func `RN13 without a shared secret every notification of version 1 is answered 503`() async throws {
        try await ReceiverStage.with(receiver: "{listen: \"127.0.0.1:0\"}") { stage in
            try await stage.receiving { receiver in
                try await receiver.expect(503, ReceiverStage.unsigned())
            }
            #expect(
                try await stage.book().column("SELECT refused_because FROM received_notifications") == ["no_secret"]
            )
        }
    }

    @Test func `RN14 of refused notifications an app keeps a thousand`() async throws {
        try await ReceiverStage.with { stage in
            let book = try stage.book()
            try await stage.receiving { receiver in
                try await receiver.expect(503, #"{"signedPayload":"first"}"#)
                try await book.change(
                    """
                    INSERT INTO received_notifications (app_id, notification_uuid, version, received_at, last_received_at, refused_because, body_sha256)
                    SELECT 1, 'refused-' || n, 2, now(), now() - CASE WHEN n = 1 THEN interval '31 days' ELSE interval '0' END, 'format', ''
                      FROM generate_series(1, 1000) n
                    """
                )
                // The oldest row is removed for the first of these. There is no room for the second.
                try await receiver.expect(503, #"{"signedPayload":"second"}"#)
                try await receiver.expect(503, #"{"signedPayload":"first"}"#)
                #expect(try await receiver.metrics().contains("refused_total{reason=\"format\"} 3\n"))
            }
            #expect(try await book.count("SELECT count(*) FROM received_notifications") == 1_000)
            #expect(
                try await book.column("SELECT receipts FROM received_notifications WHERE body IS NOT NULL") == ["2"]
            )
        }
    }

    /// The notification with the signature of another.
    private func forged(_ body: String) throws -> String {
        let at = try #require(body.lastIndex(of: "."))
        let signature = body[body.index(after: at)...].prefix(10)
        return body[...at] + String(signature.reversed()) + body[at...].dropFirst(11)
    }
}
