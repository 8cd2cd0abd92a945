import FoundationEssentials
import Postgres
import TestSupport
import Testing

/// What PostgreSQL logs of normal work: alerts of managed services fire at each error, and a log must not contain a customer's IDs.
@Suite(.temporaryDatabase, .slow)
struct ServerLogTests {
    @Test func `two migrations and two loads of the same customers at once leave no error and no ID in the log`()
        async throws
    {
        try await Stage.with(.init(customers: 60, transactionsPerCustomer: 8)) { stage in
            var jobs: [String] = []
            for name in ["first", "second"] {
                var job = stage.job
                job.name = name
                jobs.append(try stage.write(job))
            }
            try await OwnPostgres.running { server in
                /// Runs the command for both jobs at once.
                func both(_ words: String...) async throws {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for job in jobs {
                            let arguments = [words[0], job] + words.dropFirst()
                            group.addTask {
                                let variables = ["DATABASE_URL": server.conninfo]
                                try await stage.withStoreledger(arguments, environment: variables) { process in
                                    #expect(await process.wait() == 0, "\(arguments): \(process.errors)")
                                }
                            }
                        }
                        try await group.waitForAll()
                    }
                }
                try await both("migrate")
                try await both("run", "--progress", "none")
                try await both("run", "--progress", "none")
                try await both("doctor")
                try await both("status")
                try await both("replay")

                let log = try await server.log()
                #expect(errors(in: log) == [])
                let book = LedgerBook(pool: server.pool(), schema: "appstore")
                let ids = try await book.column(
                    "SELECT transaction_id FROM transactions UNION SELECT original_transaction_id FROM transactions"
                )
                #expect(ids.count > 100 && ids.filter { log.contains($0) } == [])
            }
        }
    }

    @Test(arguments: ["schema_migrations IN ACCESS SHARE MODE", "migration_lock IN ROW EXCLUSIVE MODE"])
    func `a migration that waits longer than a short time for another session leaves no error in the log`(
        lock: String
    ) async throws {
        try await Stage.with { stage in
            let job = try stage.write(stage.job)
            try await OwnPostgres.running(copyOf: .migrated) { server in
                let variables = ["DATABASE_URL": server.conninfo]
                func migrate(during body: () async throws -> Void) async throws {
                    try await stage.withStoreledger(["migrate", job], environment: variables) { process in
                        try await body()
                        #expect(await process.wait() == 0, "\(process.errors)")
                    }
                }
                let other = try PostgresConnection(conninfo: server.conninfo)
                // The next migration applies this file again.
                try other.script("DELETE FROM appstore.schema_definitions WHERE name = 'functions/refresh.sql'")
                try other.script("BEGIN; LOCK TABLE appstore.\(lock)")
                try await migrate {
                    let pool = server.pool()
                    // Each attempt is a transaction.
                    var attempts: Set<String> = []
                    try await poll {
                        attempts.formUnion(
                            try await pool.withConnection { connection in
                                try connection.run(
                                    "SELECT xact_start::text AS began FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                                ).map { try $0.text("began") }
                            }
                        )
                        return attempts.count > 1
                    }
                    try other.script("COMMIT")
                }
                #expect(errors(in: try await server.log()) == [])
            }
        }
    }

    private func errors(in log: String) -> [Substring] {
        log.split(separator: "\n").filter { $0.contains(#/ (ERROR|FATAL|PANIC): /#) }
    }
}
