import FoundationEssentials
import Glibc
import Postgres
import TestSupport
import Testing

/// `storeledger receive`: real signatures, sockets and kills.
@Suite(.migratedDatabase)
struct ReceiveTests {
    @Test func `a notification is answered 200 when it is stored, becomes records, and is counted when it comes again`()
        async throws
    {
        try await ReceiverStage.with { stage in
            let book = try stage.book()
            try await stage.receiving { receiver in
                let body = try stage.notification(1)
                try await receiver.expect(200, body)
                #expect(try await book.column("SELECT receipts FROM received_notifications") == ["1"])
                try await receiver.expect(200, body)
                try await stage.normalized(book)
                #expect(
                    try await book.column(
                        """
                        SELECT concat_ws(' ', notification_uuid, version, notification_type, original_transaction_id, receipts, body IS NULL,
                                         last_received_at > received_at, signed_date IS NOT NULL) FROM received_notifications
                        """
                    ) == ["\(ReceiverStage.uuid(1)) 2 DID_RENEW 72000000001 2 t t t"]
                )
                #expect(try await book.column("SELECT transaction_id FROM transactions") == ["72000000001"])
                #expect(try await book.count("SELECT count(*) FROM notifications") == 1)
                #expect(try await book.count("SELECT count(*) FROM renewals") == 1)
                #expect(try await book.count("SELECT count(*) FROM signed_payloads") == 3)
                #expect(try await receiver.http.get("/health").status == 200)
                let metrics = try await receiver.metrics()
                for line in [
                    #"result="new"} 1"#, #"result="known"} 1"#,
                    #"storeledger_receiver_normalised_total{app="com.example.game",environment="Production"} 1"#,
                    #"storeledger_receiver_oldest_pending_seconds{app="com.example.game",environment="Production"} 0"#,
                    "storeledger_receiver_answer_seconds_count 2", "storeledger_receiver_requests 0",
                ] { #expect(metrics.contains("\(line)\n"), "\(line) in \(metrics)") }
                receiver.process.signal(SIGTERM)
                #expect(await receiver.process.wait() == 0)
                #expect(receiver.process.output.isEmpty)
            }
        }
    }

    @Test func `received notifications leave the same rows as a crawl of them`() async throws {
        try await ReceiverStage.with { stage in
            let texts = try (1...5).map { number in
                try stage.signedPayload(number, number == 5 ? ["newMember": "1"] : [:])
            }
            try await stage.receiving { receiver in
                for text in texts { try await receiver.expect(200, "{\"signedPayload\":\"\(text)\"}") }
                try await stage.normalized(try stage.book())
            }
            let items = texts.map { "{\"signedPayload\":\"\($0)\",\"sendAttempts\":[]}" }.joined(separator: ",")
            let page = "{\"hasMore\":false,\"notificationHistory\":[\(items)]}"
            let rule = #"{"endpoint":"notificationHistory","times":1,"fault":"garbageBody","body":"#
            let faults = RecordStage.faults([rule + BadRecord.quoted(page) + "}"])
            try await Stage.with(.init(customers: 1, faults: faults)) { crawl in
                var job = crawl.job
                job.schema = "crawled"
                job.transactionIds = nil
                job.streams = ["notificationHistory: {scope: app, startDate: -1h}"]
                try RecordStage.trust(stage.scene.authority, in: &job, crawl)
                try await crawl.run(try await crawl.migrated(job))
                for table in LedgerBook.dataTables {
                    let found = try await stage.book().rows(of: table)
                    let expected = try await crawl.book(schema: "crawled").rows(of: table)
                    expectSame(found, expected, table)
                }
            }
            #expect(try await stage.book().count("SELECT count(*) FROM transactions") == 5)
        }
    }

    @Test func `a receiver that is killed after its answer loses nothing: the next one normalises`() async throws {
        try await ReceiverStage.with { stage in
            let book = try stage.book()
            let blocker = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
            try await stage.receiving { receiver in
                // Locked only now, because the receiver reads the table when it starts.
                try blocker.script("BEGIN; LOCK TABLE appstore.notifications IN ACCESS EXCLUSIVE MODE")
                for number in 1...20 { try await receiver.expect(200, try stage.notification(number)) }
                receiver.process.signal(SIGKILL)
                _ = await receiver.process.wait()
            }
            let pending = "SELECT count(*) FROM received_notifications WHERE normalised_at IS NULL AND body IS NOT NULL"
            #expect(try await book.count(pending) == 20)
            #expect(try await book.count("SELECT count(*) FROM transactions") == 0)
            try blocker.script("COMMIT")
            try await stage.receiving { _ in try await stage.normalized(book) }
            #expect(try await book.count("SELECT count(*) FROM notifications") == 20)
            #expect(try await book.count("SELECT count(*) FROM transactions") == 20)
            #expect(try await book.count("SELECT count(*) FROM signed_payloads") == 60)
        }
    }

    @Test func `two receivers that get the same notifications store each once and share the work`() async throws {
        try await ReceiverStage.with { stage in
            let book = try stage.book()
            try await stage.receiving { first in
                try await stage.receiving { second in
                    try await withThrowingTaskGroup(of: Int.self) { group in
                        for number in 1...30 {
                            let body = try stage.notification(number)
                            for receiver in [first, second] {
                                group.addTask { try await receiver.post(body) }
                            }
                        }
                        for try await status in group { #expect(status == 200) }
                    }
                    try await stage.normalized(book)
                    let counted = try await [first.metrics(), second.metrics()].map { metrics in
                        ["result=\"new\"} ", "storeledger_receiver_normalised_total{"].map { name in
                            metrics.split(separator: "\n").first { $0.contains(name) }
                                .flatMap { $0.split(separator: " ").last }.flatMap { Int($0) } ?? -1
                        }
                    }
                    #expect(counted[0][0] + counted[1][0] == 30)
                    #expect(counted[0][1] + counted[1][1] == 30)
                }
            }
            #expect(
                try await book.column("SELECT count(*) || ' ' || sum(receipts) FROM received_notifications")
                    == ["30 60"]
            )
            #expect(try await book.count("SELECT count(*) FROM notifications") == 30)
        }
    }

    @Test func `a receiver that is stopped answers the requests it has, and ends with 0`() async throws {
        try await ReceiverStage.with { stage in
            let blocker = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
            try blocker.script("BEGIN; LOCK TABLE appstore.received_notifications IN SHARE MODE")
            try await stage.receiving { receiver in
                let body = try stage.notification(1)
                async let answer = receiver.post(body)
                let waiting = """
                    SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
                     WHERE NOT l.granted AND d.datname = current_database()
                    """
                let book = try stage.book()
                try await poll { try await book.count(waiting) > 0 }
                receiver.process.signal(SIGTERM)
                // It accepts no further connection, and still has the request.
                try await poll { (try? await receiver.http.get("/health")) == nil }
                #expect(!receiver.process.hasEnded)
                try blocker.script("COMMIT")
                #expect(try await answer == 200)
                #expect(await receiver.process.wait() == 0)
                #expect(try await book.count("SELECT count(*) FROM received_notifications") == 1)
            }
        }
    }

    @Test func `a receiver whose port is in use ends with 78 and says so in a sentence`() async throws {
        try await ReceiverStage.with { stage in
            try await stage.receiving { receiver in
                let address = "127.0.0.1:\(receiver.http.port)"
                let second = try await stage.storeledger("receive", stage.job, "--listen", address)
                #expect(second.code == 78)
                #expect(
                    second.errors.contains("cannot listen on \(address): Address already in use. Name an address"),
                    "\(second.errors)"
                )
            }
        }
    }

    @Test func `while PostgreSQL is away the answer is 503, and 200 when it is back`() async throws {
        try await OwnPostgres.running(copyOf: .migrated) { server in
            try await ReceiverStage.with(databaseURL: server.conninfo) { stage in
                try await stage.receiving { receiver in
                    try await receiver.expect(200, try stage.notification(1))
                    try await server.kill()
                    // A session of a killed server can live a moment longer.
                    var number = 2
                    while try await receiver.post(try stage.notification(number)) == 200 { number += 1 }
                    let body = try stage.notification(number)
                    try await receiver.expect(503, body)
                    #expect(try await receiver.http.get("/health").status == 503)
                    #expect(!(try await receiver.metrics()).contains("oldest_pending_seconds "))
                    try await server.start()
                    // The first attempts can meet a server that is not ready.
                    try await poll { try await receiver.post(body) == 200 }
                    #expect(try await receiver.http.get("/health").status == 200)
                    let kept = "SELECT count(*) AS n FROM appstore.received_notifications"
                    let count = try await server.pool().withConnection { try $0.run(kept)[0].int64("n") }
                    #expect(count == number)
                }
            }
        }
    }

    @Test func `a notification of version 1 marks its customer, and neither its secret nor its receipt is kept`()
        async throws
    {
        try await ReceiverStage.with { stage in
            let book = try stage.book()
            try await stage.receiving { receiver in
                let body = ReceiverStage.unsigned()
                try await receiver.expect(200, body)
                try await receiver.expect(200, body)
                try await stage.normalized(book)
                #expect(
                    try await book.column(
                        "SELECT concat_ws(' ', version, notification_type, original_transaction_id, receipts, signed_date IS NULL) FROM received_notifications"
                    ) == ["1 DID_RENEW 730000000001 2 t"]
                )
                #expect(try await book.column("SELECT transaction_id FROM changed_customers") == ["730000000001"])
                #expect(try await book.count("SELECT count(*) FROM notifications") == 0)
                #expect(try await !receiver.metrics().contains(ReceiverStage.secret))
            }
            try await expectNowhere([ReceiverStage.secret, "cmVjZWlwdC1ieXRlcw", "730000000009"], book)
        }
    }

    @Test func `a receiver of the role storeledger_receiver has every right that it needs`() async throws {
        try await LedgerRoles.with { roles in
            let url = try TemporaryDatabase.conninfo
            let own = url + (url.contains("?") ? "&" : "?") + "user=\(roles.name("receiver"))"
            try await ReceiverStage.with { stage in
                try await roles.apply()
                let book = try stage.book()
                try await stage.receiving(environment: ["DATABASE_URL": own]) { receiver in
                    try await receiver.expect(200, try stage.notification(1))
                    try await receiver.expect(200, try stage.notification(1, ["subtype": #""X""#]))
                    try await receiver.expect(200, ReceiverStage.unsigned())
                    try await receiver.expect(503, ReceiverStage.unsigned(password: "x"))
                    try await stage.normalized(book)
                    #expect(try await receiver.http.get("/health").status == 200)
                }
                for command in ["doctor", "status"] {
                    let outcome = try await stage.storeledger(command, stage.job, environment: ["DATABASE_URL": own])
                    #expect(outcome.code == 0, "\(command): \(outcome.errors)\(outcome.output)")
                }
                let other = ["DATABASE_URL": own.replacing(roles.name("receiver"), with: roles.name("approver"))]
                let refused = try await stage.storeledger("doctor", stage.job, environment: other)
                #expect(refused.code == 77 && refused.output.contains("FAIL  role: "), "\(refused.output)")
                #expect(try await book.count("SELECT count(*) FROM transactions") == 1)
                #expect(
                    try await book.column(
                        "SELECT refused_because FROM received_notifications WHERE refused_because IS NOT NULL"
                    ).sorted() == ["conflict", "password"]
                )
            }
        }
    }

    @Test
    func `the job file of a receiver alone can be checked, shows what was received, and is compared with the history`()
        async throws
    {
        try await ReceiverStage.with { stage in
            let book = try stage.book()
            let new = try await stage.storeledger("doctor", stage.job)
            #expect(new.code == 0 && new.output.contains("notifications: none was received yet"), "\(new.output)")
            #expect(new.output.contains("shared secret: readable"), "\(new.output)")
            let nothing = try await stage.storeledger("status", stage.job)
            #expect(nothing.code == 0 && nothing.output.contains("nothing was received yet"), "\(nothing.output)")
            #expect(try await stage.storeledger("reconcile", stage.job).code == 78)
            try await stage.receiving { receiver in
                try await receiver.expect(200, try stage.notification(1))
                try await receiver.expect(503, ReceiverStage.unsigned(password: "x"))
                try await stage.normalized(book)
            }
            try await book.change(
                """
                UPDATE received_notifications SET received_at = date_trunc('day', now(), 'UTC') - interval '1 hour', normalised_at = NULL,
                       signed_date = date_trunc('day', now(), 'UTC') - interval '2 hours' WHERE refused_because IS NULL
                """
            )
            let status = try await stage.storeledger("status", stage.job)
            #expect(
                status.output.hasPrefix("receiver: com.example.game (Production), a receiver\n  received: the last")
            )
            #expect(status.output.contains("1 notification not yet records, the oldest for "), "\(status.output)")
            #expect(status.output.contains("refused: 1 notification for password\n"), "\(status.output)")
            struct Status: Decodable {
                struct Receiver: Decodable { let lastReceivedAt: String }
                let job: String
                let receiver: Receiver
                let pending: Int
                let refused: [String: Int]
            }
            let json = try await stage.storeledger("status", stage.job, "--json")
            let document = try JSONDecoder().decode(Status.self, from: Data(json.output.utf8))
            #expect(document.job == "receiver" && document.pending == 1 && document.refused == ["password": 1])
            let doctor = try await stage.storeledger("doctor", stage.job)
            #expect(doctor.code == 0 && doctor.output.contains("; 1 are not records yet"), "\(doctor.output)")
            let unread = try await stage.storeledger("reconcile", stage.job)
            #expect(unread.code == 75 && unread.output.contains(": not read yet"), "\(unread.output)")
            #expect(unread.errors.contains("run the app's job with notificationHistory"), "\(unread.errors)")
            for command in ["status", "reconcile"] {
                let file = stage.directory + "/receiver.prom"
                let refused = try await stage.storeledger(command, stage.job, "--metrics-file", file)
                #expect(refused.code == 64 && refused.errors.contains("under /metrics"), "\(refused.errors)")
            }
        }
    }

    @Test func `an erased customer's notification is answered 200, and nothing of it stays`() async throws {
        try await ReceiverStage.with { stage in
            let book = try stage.book()
            try await stage.receiving { receiver in
                try await receiver.expect(200, try stage.notification(1))
                try await receiver.expect(200, ReceiverStage.unsigned(original: "72000000001"))
                try await stage.normalized(book)
                let id = "72000000001"
                let outcome = try await stage.storeledger("erase", stage.crawl, "--yes", "--transaction-id", id)
                #expect(outcome.code == 0, "\(outcome.errors)")
                // The first receipt says since when the receiver works.
                #expect(
                    try await book.column("SELECT left(notification_uuid, 7) FROM received_notifications") == [
                        "erased-"
                    ]
                )
                try await receiver.expect(200, try stage.notification(1))
                // Another content under its UUID is neither kept as a conflict nor as the newer one, and a forged one is not kept.
                for type in ["OTHER", "THIRD"] {
                    try await receiver.expect(200, try stage.notification(1, ["notificationType": "\"\(type)\""]))
                }
                _ = try await receiver.post(String(try stage.notification(1).dropLast(8)) + "AAAAAA\"}")
                #expect(
                    try await receiver.post(ReceiverStage.unsigned(type: "CANCEL", original: "72000000001")) == 200
                )
                try await stage.normalized(book)
            }
            #expect(
                try await book.column("SELECT left(notification_uuid, 7) FROM received_notifications") == ["erased-"]
            )
            try await expectNowhere(["72000000001"], book)
        }
    }

    /// Expects that no table of the ledger has one of the texts.
    private func expectNowhere(_ texts: [String], _ book: LedgerBook) async throws {
        let tables = try await book.column(
            "SELECT relname FROM pg_class WHERE relnamespace = 'appstore'::regnamespace AND relkind = 'r' ORDER BY 1"
        )
        let needles = Needles(texts)
        for table in tables {
            let rows = try await book.column("SELECT t::text FROM \(table) t")
            #expect(rows.allSatisfy { needles.ids(in: $0).isEmpty }, "\(table)")
        }
    }
}
