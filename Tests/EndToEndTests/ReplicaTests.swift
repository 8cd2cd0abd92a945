import FoundationEssentials
import Ledger
import Postgres
import Status
import TestSupport
import Testing

/// A streaming replica, made with `pg_basebackup -R`: commands that read accept it, and commands that write refuse it.
@Suite(.migratedDatabase)
struct ReplicaTests {
    /// A run on a primary, and a replica that has applied all of it.
    struct Pair: Sendable {
        let stage: Stage
        /// The job file.
        let path: String
        let primary: OwnPostgres
        let replica: OwnPostgres

        /// Runs `storeledger` with one of the two servers.
        func storeledger(_ arguments: [String], at url: String) async throws -> Stage.Outcome {
            try await stage.withStoreledger(arguments, environment: ["DATABASE_URL": url]) { process in
                Stage.Outcome(code: await process.wait(), output: process.output, errors: process.errors)
            }
        }

        /// Changes the store, and loads the changes into the primary.
        func runAgain() async throws {
            _ = try await stage.store.advance(changes: 10)
            try await storeledger(["run", path, "--progress", "none"], at: primary.conninfo).expect(0)
        }
    }

    static func with(options: String = "", _ body: (Pair) async throws -> Void) async throws {
        try await Stage.with(.init(customers: 20)) { stage in
            try await OwnPostgres.running(copyOf: .migrated, options: OwnPostgres.replication) { primary in
                var job = stage.job
                job.streams[2] = "notificationHistory: {scope: app, startDate: -179d, endDate: now}"
                let path = try stage.write(job)
                let environment = ["DATABASE_URL": primary.conninfo]
                try await primary.replicated(options: options) { replica in
                    try await stage.storeledger("run", path, "--progress", "none", environment: environment).expect(0)
                    try await replica.catchUp(with: primary)
                    try await body(Pair(stage: stage, path: path, primary: primary, replica: replica))
                }
            }
        }
    }

    /// The output without what depends on the moment of the command, or on the free space of a server's files.
    private static func steady(_ text: String) -> String {
        text.replacing(/,\s*"replica" : \{[^}]*\}/, with: "")
            .replacing(/"storage" : \[[^\]]*\]/, with: "")
            .replacing(/"lastHour" : \d+/, with: "")
            .replacing(/"snapshot" : "[^"]*"/, with: "")
            .replacing(/Read from the ledger at [0-9: -]+ UTC/, with: "")
    }

    @Test func `commands that read print on a replica what they print on the primary, for each role`() async throws {
        try await Self.with { pair in
            let stage = pair.stage
            let roles = try await LedgerRoles.applied(to: pair.primary.conninfo)
            try await pair.replica.catchUp(with: pair.primary)
            let file = stage.directory + "/written"
            let tables = "transactions,refunds,notifications,renewals"
            let export = ["export", "--directory", file, "--tables", tables, "--format"]
            let cases: [(role: String, arguments: [String], files: [String])] = [
                ("analyst", ["status", "--json"], []),
                ("analyst", ["report", "--output", file + "/report.html"], ["report.html"]),
                ("exporter", ["status", pair.path, "--json"], []),
                ("exporter", ["coverage", "--all", "--json"], []),
                ("exporter", ["coverage", pair.path], []),
                ("exporter", export + ["csv"], tables.split(separator: ",").map { "\($0).csv" } + ["manifest.json"]),
                ("exporter", export + ["parquet"], tables.split(separator: ",").map { "\($0).parquet" }),
                ("exporter", ["plan", pair.path, "--json"], []),
                ("exporter", ["jobs", "list", "--json"], []),
                ("exporter", ["rejects", pair.path], []),
                ("exporter", ["failures", pair.path, "--csv", file + "/failed.csv"], ["failed.csv"]),
                ("loader", ["dictionary"], []),
            ]
            for (role, arguments, files) in cases {
                var found: [[String]] = []
                for server in [pair.primary, pair.replica] {
                    try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: true)
                    let url = server.conninfo + "&user=\(roles.name(role))"
                    let outcome = try await pair.storeledger(arguments, at: url)
                    #expect(outcome.code == 0, "\(role) \(arguments): \(outcome.errors)")
                    let written = try files.map {
                        String(decoding: try Data(contentsOf: URL(filePath: "\(file)/\($0)")), as: UTF8.self)
                    }
                    found.append(([outcome.output] + written).map(Self.steady))
                    try FileManager.default.removeItem(atPath: file)
                }
                #expect(found[0] == found[1], "\(role) \(arguments)")
                #expect(found[1].joined().count > (arguments[0] == "rejects" ? -1 : 20), "\(role) \(arguments)")
            }
        }
    }

    @Test func `GR4 a command that writes refuses a replica with 78, before it asks Apple`() async throws {
        try await Self.with { pair in
            var job = pair.stage.job
            job.name = "changes"
            job.csv = "{directory: changes, changes: true, tables: [transactions]}"
            let changes = try pair.stage.write(job)
            let requests = try await pair.stage.store.requests().total
            for arguments in [
                ["run", pair.path, "--progress", "none"], ["retry", pair.path], ["replay", pair.path],
                ["migrate", pair.path], ["refresh", pair.path], ["refresh", "--verify"],
                ["erase", pair.path, "--yes", "--transaction-id", "2000000000000001"], ["export", changes],
                ["rejects", pair.path, "dismiss", "1"], ["jobs", "remove", "nightly"],
            ] {
                let outcome = try await pair.storeledger(arguments, at: pair.replica.conninfo)
                #expect(outcome.code == 78, "\(arguments): \(outcome.errors)")
                let sentence = "this PostgreSQL server is a read-only replica, and the command changes the ledger"
                #expect(outcome.errorLines.count == 1 && outcome.errors.contains(sentence), "\(outcome.errors)")
                #expect(outcome.errors.contains("name its primary"), "\(outcome.errors)")
            }
            let doctor = try await pair.storeledger(["doctor", pair.path], at: pair.replica.conninfo)
            #expect(doctor.code == 78 && doctor.output.contains("read-only replica"), "\(doctor.output)")
            // `doctor` asks Apple once.
            #expect(try await pair.stage.store.requests().total == requests + 1)
        }
    }

    @Test
    func `a replica that lags shows the run and the moment that it has, and a URL of both servers finds the primary`()
        async throws
    {
        try await Self.with { pair in
            let book = LedgerBook(pool: pair.replica.pool(), schema: "appstore")
            let freshness = "SELECT max(refreshed_at)::text FROM view_freshness"
            func status() async throws -> JobStatus {
                let shown = try await pair.storeledger(["status", pair.path, "--json"], at: pair.replica.conninfo)
                return try JSONDecoder().decode(JobStatus.self, from: Data(shown.output.utf8))
            }
            try await book.with { _ = try $0.run("SELECT pg_wal_replay_pause()") }
            try await poll { try await book.column("SELECT pg_get_wal_replay_pause_state()") == ["paused"] }
            let before = (try await status(), try await book.column(freshness))
            // The first host is the replica, which a session for writing passes over.
            let both = pair.replica.conninfo.replacing("&port=5432", with: "")
                .replacing("host=", with: "host=\(try #require(Self.host(of: pair.primary))),")
            _ = try await pair.stage.store.advance(changes: 10)
            let run = ["run", pair.path, "--progress", "none"]
            try await pair.storeledger(run, at: both + "&target_session_attrs=read-write").expect(0)
            let lagging = try await status()
            #expect(lagging.runs.map(\.run) == [1] && lagging.runs == before.0.runs)
            #expect(lagging.replica == before.0.replica && lagging.replica != nil)
            #expect(try await book.column(freshness) == before.1)
            let text = try await pair.storeledger(
                ["status", pair.path],
                at: both + "&target_session_attrs=prefer-standby"
            )
            #expect(text.output.contains("\n  read from a replica, which has all changes until 20"))

            try await book.with { try $0.script("SELECT pg_wal_replay_resume()") }
            try await pair.replica.catchUp(with: pair.primary)
            let current = try await status()
            let finished = try #require(current.runs.first?.finishedAt)
            #expect(current.runs.map(\.run) == [2, 1])
            #expect(try #require(current.replica).appliedUntil >= finished)
            let primary = LedgerBook(pool: pair.primary.pool(), schema: "appstore")
            #expect(try await book.column(freshness) == (try await primary.column(freshness)))
            let own = try await pair.storeledger(["status", pair.path], at: pair.primary.conninfo)
            #expect(!own.output.contains("replica"))
        }
    }

    @Test
    func `a full refresh on the primary keeps no reader of the replica waiting, and takes no row from its snapshot`()
        async throws
    {
        // The replica waits for its readers without a limit, so a lock or a removed row of theirs would stop it.
        let options = "-c max_standby_streaming_delay=-1 -c hot_standby_feedback=on -c wal_receiver_status_interval=1s"
        try await Self.with(options: options) { pair in
            let primary = LedgerBook(pool: pair.primary.pool(), schema: "appstore")
            let tables = try await primary.column(
                "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname ~ '^refresh_(stored_|.*_totals$)'"
            )
            for table in tables { try await primary.with { try $0.script(inflating(table)) } }
            try await pair.replica.catchUp(with: pair.primary)
            let figures = tables.map {
                "SELECT '\($0) ' || coalesce(md5(string_agg(t::text, ' ' ORDER BY t::text)), '') AS figures FROM \($0) t"
            }.joined(separator: " UNION ALL ")
            func session() throws -> PostgresConnection {
                let session = try PostgresConnection(conninfo: pair.replica.conninfo)
                try session.script("SET search_path = appstore; SET lock_timeout = '30s'")
                return session
            }
            func read(_ connection: borrowing PostgresConnection) throws -> [String] {
                try connection.run(figures).map { try $0.text("figures") }.sorted()
            }
            let older = try session()
            let newer = try session()
            let before = try read(newer)
            try older.script("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM apps")
            // The primary knows of the snapshot.
            try await poll { try await primary.count("SELECT count(backend_xmin) FROM pg_stat_replication") > 0 }
            let changed =
                "UPDATE transactions SET price_milliunits = price_milliunits + 1000 WHERE price_milliunits > 0"
            #expect(try await primary.change(changed) > 0)

            let gate = try PostgresConnection(conninfo: pair.primary.conninfo)
            try gate.script("SET search_path = appstore; BEGIN; LOCK TABLE refresh_refund_rate_totals IN SHARE MODE")
            let refresh = ["refresh", pair.path, "--full"]
            let environment = ["DATABASE_URL": pair.primary.conninfo]
            try await pair.stage.withStoreledger(refresh, environment: environment) { process in
                let waiting =
                    "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'refresh_refund_rate_totals'::regclass"
                try await poll { try await primary.count(waiting) > 0 }
                // A commit flushes the log, with the records of the refresh's locks.
                try await primary.with { try $0.script("CREATE TABLE public.flushed ()") }
                try await pair.replica.catchUp(with: pair.primary)
                #expect(try read(newer) == before)
                try gate.script("COMMIT")
                #expect(await process.wait() == 0, "\(process.errors)")
            }
            try await pair.replica.catchUp(with: pair.primary)
            #expect(try read(older) == before)
            #expect(try read(newer) != before)
        }
    }

    /// The percent-encoded directory of a server's socket.
    private static func host(of server: OwnPostgres) -> String? {
        server.conninfo.split { "?&".contains($0) }.first { $0.hasPrefix("host=") }.map { String($0.dropFirst(5)) }
    }

    @Test func `GR5 a command that conflicts with the replay is repeated, and the fifth conflict is explained`()
        async throws
    {
        try await Self.with(options: "-c max_standby_streaming_delay=0") { pair in
            let own = try PostgresConnection(conninfo: pair.replica.conninfo)
            let waiting =
                "SELECT virtualtransaction AS name FROM pg_locks WHERE NOT granted AND relation = 'appstore.notifications'::regclass"
            let holder = try PostgresConnection(conninfo: pair.primary.conninfo)
            let other = try PostgresConnection(conninfo: pair.primary.conninfo)
            let directory = pair.stage.directory + "/out"
            let export = ["export", "--directory", directory, "--tables", "transactions,notifications"]
            /// Exports while the primary's lock of a table keeps the export waiting, and each of so many locks of another
            /// table, which the export reads, ends it.
            func conflict(atMost most: Int) async throws -> (outcome: Stage.Outcome, conflicts: Int) {
                try holder.script("BEGIN; LOCK TABLE appstore.notifications")
                // A commit flushes the log, and with it the record of the lock.
                try other.script("BEGIN; LOCK TABLE appstore.refunds; COMMIT")
                try await pair.replica.catchUp(with: pair.primary)
                let environment = ["DATABASE_URL": pair.replica.conninfo]
                return try await pair.stage.withStoreledger(export, environment: environment) { process in
                    var conflicts = 0
                    var last: String?
                    while !process.hasEnded, conflicts < most {
                        let transaction = try own.run(waiting).first?.text("name")
                        if let transaction, transaction != last {
                            try other.script("BEGIN; LOCK TABLE appstore.transactions; COMMIT")
                            conflicts += 1
                            last = transaction
                        }
                        try await Task.sleep(for: .milliseconds(5))
                    }
                    try holder.script("ROLLBACK")
                    let code = await process.wait()
                    return (Stage.Outcome(code: code, output: process.output, errors: process.errors), conflicts)
                }
            }
            let (repeated, two) = try await conflict(atMost: 2)
            #expect(repeated.code == 0 && two == 2, "\(repeated)")
            let before = try Data(contentsOf: URL(filePath: directory + "/manifest.json"))

            let (ended, five) = try await conflict(atMost: 50)
            #expect(ended.code == 75 && five == 5, "\(five) \(ended)")
            #expect(ended.errorLines.count == 1, "\(ended.errors)")
            for words in ["conflict with recovery", "Run again", "hot_standby_feedback", "max_standby_streaming_delay"]
            {
                #expect(ended.errors.contains(words), "\(ended.errors)")
            }
            #expect(try Data(contentsOf: URL(filePath: directory + "/manifest.json")) == before)
        }
    }
}
