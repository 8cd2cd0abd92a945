import FoundationEssentials
import Glibc
import Postgres
import TestSupport
import Testing

/// What the commands say of locks, and of what `migrate` changes.
@Suite(.temporaryDatabase)
struct LockTests {
    @Test
    func `a run that is blocked at its beginning waits no longer than --max-duration, and names the session (75)`()
        async throws
    {
        try await Stage.with(.init(customers: 1)) { stage in
            let path = try await stage.migrated(stage.job)
            try await stage.run(path)
            let blocker = try PostgresConnection(
                ConnectionString(try TemporaryDatabase.conninfo, applicationName: "left open")
            )
            let process = try blocker.run("SELECT pg_backend_pid() AS pid")[0].int64("pid")
            try blocker.script("BEGIN; SELECT FROM appstore.jobs FOR UPDATE")
            for command in ["run", "retry"] {
                let held = try await stage.storeledger(command, path, "--max-duration", "1s", "--progress", "none")
                #expect(held.code == 75, "\(held.errors)")
                #expect(held.errorLines.count == 1)
                #expect(held.errors.contains("for another process to begin a run of \(stage.job.name)"))
                #expect(held.errors.contains("process \(process) (user "), "\(held.errors)")
                #expect(held.errors.contains("application \"left open\", in a transaction since 2"), "\(held.errors)")
            }
            try blocker.script("ROLLBACK")
            try await stage.run(path)
        }
    }

    @Test(arguments: [
        ("LOCK TABLE appstore.crawl_items IN ACCESS EXCLUSIVE MODE", "crawl_items"),
        ("LOCK TABLE appstore.schema_migrations IN ACCESS EXCLUSIVE MODE", "schema_migrations"),
        ("SELECT FROM appstore.jobs FOR UPDATE", "a row of jobs"),
    ])
    func `a run that waits for another session's lock says whose it is, and goes on after it`(
        statement: String,
        what: String
    ) async throws {
        try await Stage.with(.init(customers: 1)) { stage in
            let path = try await stage.migrated(stage.job)
            try await stage.run(path)
            let blocker = try PostgresConnection(
                ConnectionString(try TemporaryDatabase.conninfo, applicationName: "left open")
            )
            let process = try blocker.run("SELECT pg_backend_pid() AS pid")[0].int64("pid")
            try blocker.script("BEGIN; \(statement)")
            try await stage.withStoreledger(["run", path, "--progress", "none"]) { run in
                let said = try #require(await run.errorLine(with: "waiting for a lock on"), "\(run.errors)")
                #expect(said.hasPrefix("storeledger: waiting for a lock on \(what) ("), "\(said)")
                #expect(said.contains("behind process \(process) (user "), "\(said)")
                #expect(said.contains("application \"left open\", idle in transaction, last statement BEGIN, "))
                #expect(said.contains("in a transaction since 2") && !said.contains("appstore."), "\(said)")
                try blocker.script("ROLLBACK")
                #expect(await run.wait() == 0, "\(run.errors)")
            }
        }
    }

    @Test(arguments: [("crawl_items", "items"), ("runs", "runs"), ("rejected_records", "rejected records")])
    func `status prints what it can read while another session has locked a table`(table: String, part: String)
        async throws
    {
        try await Stage.with(.init(customers: 1)) { stage in
            let path = try await stage.migrated(stage.job)
            try await stage.run(path)
            let blocker = try PostgresConnection(
                ConnectionString(try TemporaryDatabase.conninfo, applicationName: "left open")
            )
            try blocker.script("BEGIN; LOCK TABLE appstore.\(table) IN ACCESS EXCLUSIVE MODE")
            // Which jobs there are is in `runs`.
            for arguments in [["status", path]] + (table == "runs" ? [] : [["status"]]) {
                let outcome = try await stage.withStoreledger(arguments) { process in
                    Stage.Outcome(code: await process.wait(), output: process.output, errors: process.errors)
                }
                #expect(outcome.code == 0, "\(outcome.errors)")
                let lines = outcome.output.split(separator: "\n")
                #expect(lines.first == "nightly: com.example.game (Production)", "\(outcome.output)")
                let locked = try #require(
                    lines.last { $0.hasPrefix("  not shown, because of a lock, held by process ") }
                )
                #expect(locked.contains("application \"left open\""), "\(locked)")
                #expect(locked.contains("AccessExclusiveLock on \(table)): ") && locked.contains(part), "\(locked)")
                #expect(lines.contains { $0.hasPrefix("  used: ") }, "\(outcome.output)")
            }
            struct Locked: Decodable { let parts, heldBy: [String] }
            struct Status: Decodable { let job: String; let locked: Locked }
            let json = try await stage.storeledger("status", path, "--json")
            let status = try JSONDecoder().decode(Status.self, from: Data(json.output.utf8))
            #expect(status.job == "nightly" && status.locked.parts.contains(part) && status.locked.heldBy.count == 1)
            try blocker.script("ROLLBACK")
            let free = try await stage.storeledger("status", path)
            #expect(!free.output.contains("because of a lock"))
        }
    }

    @Test func `status of a ledger whose apps are locked ends at once, and names the session (75)`() async throws {
        try await Stage.with(.init(customers: 1)) { stage in
            let path = try await stage.migrated(stage.job)
            try await stage.run(path)
            let blocker = try PostgresConnection(
                ConnectionString(try TemporaryDatabase.conninfo, applicationName: "left open")
            )
            try blocker.script("BEGIN; LOCK TABLE appstore.apps IN ACCESS EXCLUSIVE MODE")
            let outcome = try await stage.storeledger("status", path)
            #expect(outcome.code == 75 && outcome.output == "", "\(outcome)")
            #expect(outcome.errors.contains("application \"left open\""), "\(outcome.errors)")
            #expect(!outcome.errors.contains("resume"), "\(outcome.errors)")
        }
    }

    @Test(arguments: ["status", "coverage", "failures"])
    func `a stopped command that only reads has nothing to resume`(command: String) async throws {
        try await Stage.with(.init(customers: 1)) { stage in
            let path = try stage.write(stage.job)
            let listener = try LoopbackListener()
            let url = "postgresql://loader:\(Stage.plantedPassword)@127.0.0.1:\(listener.port)/ledger"
            let arguments = [command, path] + (command == "failures" ? ["--csv", stage.directory + "/f.csv"] : [])
            try await stage.withStoreledger(arguments, environment: ["DATABASE_URL": url]) { process in
                listener.signal(process, SIGTERM)
                #expect(await process.wait() == 75, "\(process.errors)")
                #expect(Stage.lines(of: process.errors).last == "stopped by signal 15", "\(process.errors)")
            }
        }
    }

    @Test func `migrate prints each thing it changed, and "nothing to do" where there was none`() async throws {
        try await Stage.with(.init(customers: 1)) { stage in
            let path = try stage.write(stage.job)
            let lines = { () async throws in
                let outcome = try await stage.storeledger("migrate", path)
                #expect(outcome.code == 0, "\(outcome.errors)")
                return outcome.output.split(separator: "\n").map(String.init)
            }
            let first = try await lines()
            #expect(first.count == 2, "\(first)")
            let applied = /applied \d\d migrations; the last one is \d{4}_[a-z_]+\.sql/
            #expect(first.first?.wholeMatch(of: applied) != nil, "\(first)")
            #expect(first.last?.wholeMatch(of: /schema "appstore" is new; \d+ views created/) != nil, "\(first)")
            #expect(try await lines() == ["schema \"appstore\" was up to date; nothing to do"])
            try PostgresConnection(conninfo: try TemporaryDatabase.conninfo).script(
                "UPDATE appstore.schema_views SET checksum = 'of before' WHERE name = 'trials_by_day'"
            )
            let third = try await lines()
            #expect(third.dropLast() == ["created view trials_by_day"], "\(third)")
            #expect(
                third.last?.wholeMatch(of: /schema "appstore" is up to date; \d+ views unchanged/) != nil,
                "\(third)"
            )
        }
    }
}
