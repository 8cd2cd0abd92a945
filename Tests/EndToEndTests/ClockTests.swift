import FoundationEssentials
import Glibc
import Postgres
import TestSupport
import Testing

/// Wrong clocks: the worker's, and the database server's (CK1 to CK6, CK10, CK13, CK16).
@Suite(
    .migratedDatabase,
    .enabled(Comment(rawValue: Shim.missing)) { await ClockShim.library.value != nil }
)
struct ClockTests {

    @Test(arguments: [3_600, -3_600, 315_360_000])
    func `CK1 a worker whose clock is off is refused, says by how much, and leaves budget and leases in order`(
        seconds: Int
    ) async throws {
        try await Stage.with(.init(customers: 30, windowSeconds: 60)) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}"]
            job.limits = "{concurrency: 8, share: 1, windowSeconds: 60}"
            let path = try await stage.migrated(job)
            let file = stage.directory + "/clock"
            try ClockShim.set(file, by: seconds)
            let clock = await ClockShim.environment(reading: file)
            let outcome = try await stage.storeledger("run", path, "--progress", "plain", environment: clock)
            #expect(outcome.code == 77, "\(outcome.errors)")
            let side = seconds > 0 ? "ahead of" : "behind"
            #expect(outcome.errors.contains("s \(side) PostgreSQL's"), "\(outcome.errors)")
            let told = outcome.errors.firstMatch(of: /local clock is off by (-?[0-9]+) s/).flatMap { Int($0.1) }
            #expect(abs(try #require(told, "\(outcome.errors)") - seconds) <= 30)

            let book = try stage.book()
            #expect(
                try await book.count(
                    "SELECT count(*) FROM rate_scopes WHERE closed_until > last_now OR abs(extract(epoch FROM now() - last_now)) > 300"
                ) == 0
            )
            // Apple refused every token; the workers repeat their requests for five seconds.
            #expect(try await stage.store.requests().arrivals.allSatisfy { $0.status == 401 })
            #expect(try await book.count("SELECT count(*) FROM crawl_items WHERE state <> 'waiting'") == 0)
            // A machine with the right clock continues at once.
            try await stage.run(path)
        }
    }

    @Test func `CK10 machines a few minutes apart share one database, and do no work twice`() async throws {
        try await Stage.with(.init(customers: 40, transactionsPerCustomer: 20)) { stage in
            let path = try await stage.migrated(stage.job)
            let codes = try await withThrowingTaskGroup(of: Stage.Outcome.self) { group in
                // Apple accepts tokens from up to a minute ahead, and until they reach their maximum age.
                for seconds in [50, -180, 0] {
                    let file = stage.directory + "/clock\(seconds)"
                    try ClockShim.set(file, by: seconds)
                    let clock = await ClockShim.environment(reading: file)
                    group.addTask { try await stage.storeledger("run", path, "--progress", "none", environment: clock) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for outcome in codes { #expect(outcome.code == 0, "\(outcome.errors)") }
            let book = try stage.book()
            let pages = try await book.count("SELECT sum(page_seq) FROM crawl_items")
            #expect(try await stage.store.requests().total == pages)
            expectNone(try await book.differences(from: stage.store.world()))
        }
    }

    @Test(arguments: [7_200, -1_800])
    func `CK4 CK5 a database server whose clock is set ends the run, and too much is never sent`(seconds: Int)
        async throws
    {
        let window = 10
        try await Stage.with(.init(customers: 400, windowSeconds: window)) { stage in
            let library = await ClockShim.library.value
            try await OwnPostgres.running(copyOf: .migrated, library: library) { server in
                var job = stage.job
                job.streams = ["transactionHistory: {}"]
                job.limits = "{concurrency: 8, share: 0.4, windowSeconds: \(window)}"
                let path = try stage.write(job)
                let database = ["DATABASE_URL": server.conninfo]
                let arguments = ["run", path, "--progress", "plain"]
                try await stage.withStoreledger(arguments, environment: database) { process in
                    try await stage.store.arrivals(100) { process.hasEnded }
                    try server.setClock(by: seconds)
                    #expect(await process.wait() == 78, "\(process.errors)")
                    let words = "PostgreSQL's clock was set \(seconds > 0 ? "forward" : "back") by"
                    #expect(process.errors.contains(words), "\(process.errors)")
                }
                // A later process can compare only with the Date of Apple's answers and with this machine's clock.
                let later = try await stage.storeledger(
                    "run",
                    path,
                    "--progress",
                    "plain",
                    "--max-duration",
                    "15s",
                    environment: database
                )
                #expect(later.code == 78, "\(later.errors)")
                #expect(later.errors.contains("the Date header of Apple's answers"), "\(later.errors)")
                let requests = try await stage.store.requests()
                #expect(requests.refused == 0)
                #expect(requests.most(within: window) <= 50 * window * 4 / 10 + 25)
                // With the right clock the job continues. After a step forward it would first wait for that time.
                guard seconds < 0 else { return }
                try server.setClock(by: 0)
                let last = try await stage.storeledger("run", path, "--progress", "plain", environment: database)
                #expect(last.code == 0, "\(last.errors)")
                #expect(try await stage.store.requests().refused == 0)
            }
        }
    }

    @Test(arguments: [false, true])
    func `CK13 a run that began three days ahead is replaced once the clock is right, and no time is skipped`(
        changesJob: Bool
    ) async throws {
        try await Stage.with(.init(customers: 20, windowSeconds: 10)) { stage in
            let library = await ClockShim.library.value
            try await OwnPostgres.running(copyOf: .migrated, library: library) { server in
                var job = stage.job
                job.streams = ["transactionHistory: {}", "notificationHistory: {scope: app, startDate: lastRun}"]
                job.limits = "{concurrency: 8, share: 0.9, windowSeconds: 10}"
                let path = try stage.write(job)
                let database = ["DATABASE_URL": server.conninfo]
                try server.setClock(by: 3 * 86_400)
                let ahead = try await stage.storeledger("run", path, environment: database)
                #expect(ahead.code == 78, "\(ahead.errors)")
                try server.setClock(by: 0)
                let doctor = try await stage.storeledger("doctor", path, environment: database)
                #expect(doctor.output.contains("after PostgreSQL's present time"), "\(doctor.output)")

                if changesJob {
                    job.streams.append("refundHistory: {for: all}")
                    #expect(try stage.write(job) == path)
                }
                let next = try await stage.storeledger("run", path, "--progress", "plain", environment: database)
                #expect(next.code == 0, "\(next.errors)")
                #expect(next.errors.contains("began while PostgreSQL's clock was ahead"))
                let repaired = try await stage.storeledger("doctor", path, environment: database)
                #expect(!repaired.output.contains("FAIL"), "\(repaired.output)")
                let book = LedgerBook(pool: server.pool(), schema: "appstore")
                #expect(try await book.count("SELECT count(*) FROM crawl_items WHERE window_end > now()") == 0)
                expectNone(
                    try await book.differences(from: stage.store.world()).filter { $0.hasPrefix("notification") }
                )
            }
        }
    }

    @Test
    func
        `CK16 views that were refreshed, and a customer who was erased, while PostgreSQL's clock was ahead are right once it is`()
        async throws
    {
        try await Stage.with(.init(customers: 25, transactionsPerCustomer: 12)) { stage in
            let library = await ClockShim.library.value
            try await OwnPostgres.running(copyOf: .migrated, library: library) { server in
                let path = try stage.write(stage.job)
                let database = ["DATABASE_URL": server.conninfo]
                func storeledger(_ arguments: String...) async throws {
                    try await stage.withStoreledger(arguments, environment: database) { process in
                        #expect(await process.wait() == 0, "\(arguments): \(process.errors)\(process.output)")
                    }
                }
                let days = 86_400
                try await storeledger("run", path, "--progress", "none")
                let book = LedgerBook(pool: server.pool(), schema: "appstore")

                // A refresh two months ahead counts periods as ended that run on.
                let states = "SELECT s FROM subscriptions_by_status s ORDER BY 1"
                let now = try await book.column(states)
                try server.setClock(by: 61 * days)
                try await storeledger("refresh", path)
                #expect(try await book.column(states) != now)
                // While the clock stays ahead, all figures are as of that time.
                try await storeledger("refresh", path, "--verify")
                try server.setClock(by: 0)
                try await storeledger("refresh", path)
                #expect(try await book.column(states) == now)
                try await storeledger("refresh", path, "--verify")

                // An erasure counts these days again as of the last refresh, and not as of the present time.
                let customer = try #require(
                    try await book.column(
                        """
                        SELECT original_transaction_id FROM notifications WHERE original_transaction_id IS NOT NULL
                         ORDER BY signed_date LIMIT 1
                        """
                    ).first
                )
                try await book.with { connection in
                    try connection.script(
                        """
                        INSERT INTO notifications (app_id, notification_uuid, notification_type, signed_date, payload_sha256, payload)
                        SELECT app_id, 'retried', notification_type, signed_date, '', '{}' FROM notifications
                         WHERE original_transaction_id = '\(customer)' ORDER BY signed_date LIMIT 1;
                        INSERT INTO notification_send_attempts (app_id, notification_uuid, attempt_date, send_attempt_result, read_at)
                        VALUES (1, 'retried', now() - interval '1 minute', 'TIMED_OUT', now())
                        """
                    )
                }
                try await storeledger("refresh", path)
                try server.setClock(by: 61 * days)
                try await storeledger("erase", path, "--yes", "--transaction-id", customer)
                try server.setClock(by: 0)
                try await storeledger("refresh", path)
                try await storeledger("refresh", path, "--verify")

                // Two months later, nothing is left of it.
                try server.setClock(by: 62 * days)
                try await storeledger("refresh", path)
                try await storeledger("refresh", path, "--verify")
            }
        }
    }

    @Test func `CK2 CK3 a worker that is stopped while its clock is set sends nothing with its old permits and leases`()
        async throws
    {
        try await Stage.with(.init(customers: 200, windowSeconds: 10)) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}"]
            job.limits = "{concurrency: 8, share: 0.3, windowSeconds: 10}"
            let path = try await stage.migrated(job)
            let file = stage.directory + "/clock"
            try ClockShim.set(file, by: 0)
            let clock = await ClockShim.environment(reading: file)
            try await stage.withStoreledger(["run", path, "--progress", "none"], environment: clock) { process in
                for (round, step) in [50, -100, 30, -5].enumerated() {
                    try await stage.store.arrivals((round + 1) * 35) { process.hasEnded }
                    process.signal(SIGSTOP)
                    try ClockShim.set(file, by: step)
                    // Longer than a grant is valid and a request is in flight, with this window.
                    try await Task.sleep(for: .seconds(1))
                    try await process.resume()
                }
                #expect(await process.wait() == 0, "\(process.errors)")
            }
            let requests = try await stage.store.requests()
            #expect(requests.refused == 0)
            #expect(requests.most(within: 10) <= 150)
            let book = try stage.book()
            expectNone(try await book.differences(from: stage.store.world()).filter { $0.hasPrefix("transaction") })
        }
    }

    @Test func `CK6 a machine's time zone changes nothing`() async throws {
        try await Stage.with(.init(customers: 6)) { stage in
            var books: [LedgerBook] = []
            for (place, zone) in ["UTC", "Asia/Kathmandu", "America/St_Johns"].enumerated() {
                var job = stage.job
                job.schema = "zone\(place)"
                let path = try await stage.migrated(job)
                let environment = ["TZ": zone, "PGTZ": zone]
                let outcome = try await stage.storeledger("run", path, "--progress", "none", environment: environment)
                #expect(outcome.code == 0, "\(outcome.errors)")
                books.append(try stage.book(schema: job.schema))
            }
            for book in books.dropFirst() {
                for table in ["transactions", "refunds", "notifications", "renewals"] {
                    expectSame(try await book.rows(of: table), try await books[0].rows(of: table), table)
                }
            }
        }
    }
}
