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
