import FoundationEssentials
import Glibc
import Postgres
import TestSupport
import Testing

/// Views that cannot be refreshed: who says so, and until when.
@Suite(.migratedDatabase)
struct FailedRefreshTests {
    private struct Status: Decodable {
        struct Run: Decodable {
            let exitCode: Int?
            let message: String?
        }
        struct Views: Decodable {
            let refreshedAt, failedSince, message: String?
        }
        let runs: [Run]
        let views: Views?
    }

    /// No refresh can begin any more, and one is due.
    private static let broken = """
        DO $$ BEGIN
            EXECUTE format('ALTER TABLE refresh_state ADD CONSTRAINT broken CHECK (next_as_of < %L)', now());
        END $$;
        UPDATE transactions SET price_milliunits = price_milliunits + 1
        """
    private static let failedSince = "storeledger_views_failed_timestamp_seconds{app=\"com.example.game\""

    private static func status(_ stage: Stage, _ path: String) async throws -> Status {
        try JSONDecoder().decode(
            Status.self,
            from: Data(try await stage.storeledger("status", path, "--json").output.utf8)
        )
    }

    @Test
    func `RV3 views that cannot be refreshed make a run end with 2, and every output reports them until they are`()
        async throws
    {
        try await Stage.with(.init(customers: 4)) { stage in
            let server = try WebhookServer()
            defer { server.stop() }
            var job = stage.job
            job.notify = "{url: \"http://127.0.0.1:\(server.port)/hook\"}"
            let path = try await stage.migrated(job)
            let metrics = stage.directory + "/storeledger.prom"
            try await stage.run(path)
            let book = try stage.book()
            try await book.with { try $0.script(Self.broken) }

            let run = try await stage.storeledger("run", path, "--json", "--metrics-file", metrics)
            #expect(run.code == 2 && run.errors.contains("the views were not refreshed: "), "\(run.errors)")
            #expect(
                run.output.contains("\"viewsFailure\"") && run.output.contains("violates check constraint"),
                "\(run.output)"
            )
            let plain = try await stage.storeledger("run", path)
            #expect(plain.code == 2 && plain.output.contains(" complete, but the views are old\n"), "\(plain.output)")
            let notice = try #require(server.requests.last?.body)
            #expect(notice.contains("\"viewsAreOld\":true") && notice.contains("\"exitCode\":2"), "\(notice)")

            let status = try await Self.status(stage, path)
            #expect(status.runs.prefix(2).map(\.exitCode) == [2, 2])
            #expect(status.runs[0].message?.contains("the views were not refreshed") == true)
            #expect(status.views?.refreshedAt != nil && status.views?.failedSince != nil)
            #expect(status.views?.message?.contains("violates check constraint") == true)
            let text = try await stage.storeledger("status", path).output
            #expect(text.contains("; every refresh since "), "\(text)")
            let doctor = try await stage.storeledger("doctor", path)
            #expect(doctor.code == 2 && doctor.output.contains("; every refresh since "), "\(doctor.output)")
            #expect(try String(contentsOfFile: metrics, encoding: .utf8).contains(Self.failedSince))

            // The other commands that refresh.
            #expect(try await stage.storeledger("refresh", path).code == 70)
            // The replay loads it again.
            try await book.with {
                try $0.script(
                    "DELETE FROM transactions WHERE transaction_id = (SELECT min(transaction_id) FROM transactions)"
                )
            }
            let replay = try await stage.storeledger("replay", path)
            #expect(replay.code == 2 && replay.errors.contains("the views were not refreshed: "), "\(replay)")
            let ids = try await book.column("SELECT min(transaction_id) FROM transactions")
            let erase = try await stage.storeledger("erase", path, "--yes", "--json", "--transaction-id", ids[0])
            #expect(erase.code == 2 && erase.output.contains("\"warnings\""), "\(erase)")

            // The first refresh that succeeds clears it.
            try await book.with { try $0.script("ALTER TABLE refresh_state DROP CONSTRAINT broken") }
            try await stage.storeledger("refresh", path).expect(0)
            let mended = try await Self.status(stage, path)
            #expect(
                mended.views?.refreshedAt != nil && mended.views?.failedSince == nil && mended.views?.message == nil
            )
            try await stage.storeledger("doctor", path).expect(0)
            try await stage.storeledger("run", path, "--metrics-file", metrics).expect(0)
            #expect(!(try String(contentsOfFile: metrics, encoding: .utf8).contains(Self.failedSince)))
        }
    }

    @Test func `RV4 after a forged notification to a new receiver and an erasure, every refresh and night goes on`()
        async throws
    {
        try await Stage.with(.init(customers: 3)) { stage in
            let path = try await stage.migrated(stage.job)
            let receiver = try stage.write(
                """
                version: 1
                name: receiver
                app: {bundleId: com.example.game, appAppleId: 1234567890, environment: Production}
                appStore: {baseURL: "http://127.0.0.1:9", trustedRoots: [root.cer]}
                receiver: {listen: "127.0.0.1:0"}
                output: {postgres: {url: "${DATABASE_URL}"}}

                """,
                to: "receiver.yaml"
            )
            try await stage.run(path)
            try await stage.withStoreledger(["receive", receiver]) { process in
                let line = try #require(await process.errorLine(with: "receiving notifications"), "\(process.errors)")
                let port = try #require(line.split(separator: ":").last.flatMap { Int($0.prefix { $0.isNumber }) })
                let receiver = RunningReceiver(process: process, http: LoopbackHTTP(port: port))
                try await receiver.expect(503, #"{"signedPayload":"e30.e30.AAAA"}"#)
                process.signal(SIGTERM)
                #expect(await process.wait() == 0)
            }
            let book = try stage.book()
            #expect(
                try await book.count("SELECT count(*) FROM received_notifications WHERE refused_because IS NOT NULL")
                    == 1
            )
            // As autovacuum does at some time.
            try await book.with { try $0.script("ANALYZE") }
            let customer = try await book.column("SELECT min(original_transaction_id) FROM transactions")[0]
            try await stage.storeledger("erase", path, "--yes", "--transaction-id", customer).expect(0)
            #expect(try await book.count("SELECT count(*) FROM received_notifications") == 0)
            #expect(try await book.count("SELECT count(*) FROM stale_statistics") == 0)
            try await stage.storeledger("refresh", path).expect(0)
            _ = try await stage.store.advance(changes: 5)
            try await stage.run(path)
            try await stage.storeledger("refresh", path, "--verify").expect(0)
        }
    }
}
