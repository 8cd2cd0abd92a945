import FoundationEssentials
import Postgres
import TestSupport

/// Faults in operations that happen once in a ledger's life, each in a separate database.
extension Round {
    /// Migration files are applied in order, each completely or not at all, and a second `migrate` applies the rest (CP43).
    mutating func killMigration(_ planned: PlannedPoint, _ fault: InjectedFault) async throws {
        let (storeledger, job) = (storeledger, job)
        let hit = try await withDatabase { database, environment in
            let killed = try await Self.finish(storeledger, ["migrate", job], environment, planned.failpoint("kill"))
            guard killed.code == 137 else { return false }
            let isThere = try await database(
                "public"
            ).count("SELECT count(to_regclass('appstore.schema_migrations'))")
            let files = "SELECT name FROM schema_migrations UNION ALL SELECT name FROM schema_definitions ORDER BY name"
            let left = isThere == 0 ? [] : try await database("appstore").column(files)
            let again = try await Self.finish(storeledger, ["migrate", job], environment)
            try BrokenInvariant.check(again.code == 0 ? [] : ["CP43: migrate did not complete it: \(again.errors)"])
            let all = try await database("appstore").column(files)
            try BrokenInvariant.check(
                left.isEmpty || left == all ? [] : ["CP43: a part of the files was applied: \(left)"]
            )
            return true
        }
        if hit { tally.hit(fault) } else { tally.miss(fault) }
    }

    /// An erasure removes all data of a customer or nothing, and a second `erase` completes it (CP44).
    mutating func killErasure(_ planned: PlannedPoint, _ fault: InjectedFault) async throws {
        let storeledger = storeledger
        let options = SimulatedStore.Options(seed: plan.store.seed, customers: 3, transactionsPerCustomer: 8)
        let hit = try await withDatabase { database, environment in
            try await withTemporaryDirectory { directory in
                try await SimulatedStore.serving(options, in: directory + "/store") { store in
                    let job = store.directory + "/job.yaml"
                    for command in ["migrate", "run"] {
                        let outcome = try await Self.finish(storeledger, [command, job], environment)
                        try BrokenInvariant.check(outcome.code == 0 ? [] : ["\(command): \(outcome.errors)"])
                    }
                    let book = try await database("appstore")
                    let ids = try await book.column("SELECT min(transaction_id) FROM transactions")
                    let erase = ["erase", job, "--yes", "--transaction-id", ids[0]]
                    let before = try await book.rowCounts()
                    let killed = try await Self.finish(storeledger, erase, environment, planned.failpoint("kill"))
                    guard killed.code == 137 else { return false }
                    let after = try await book.rowCounts()
                    try BrokenInvariant.check(before == after ? [] : ["CP44: a part of an erasure is there: \(after)"])
                    let again = try await Self.finish(storeledger, erase, environment)
                    let left = try await book.count(
                        "SELECT count(*) FROM transactions WHERE transaction_id = '\(ids[0])'"
                    )
                    guard again.code == 0, left == 0, try await book.count("SELECT count(*) FROM erased_marks") > 0
                    else { throw BrokenInvariant(sentences: ["CP44: erase did not complete: \(again.errors)"]) }
                    return true
                }
            }
        }
        if hit { tally.hit(fault) } else { tally.miss(fault) }
    }

    /// Calls `body` with a new database: a function to read its schema, and the environment of a `storeledger` for it.
    private func withDatabase(
        _ body: (_ schema: (String) async throws -> LedgerBook, _ environment: [String: String]) async throws -> Bool
    ) async throws -> Bool {
        let name = "\(database)_apart"
        let remove = "DROP DATABASE IF EXISTS \(name) WITH (FORCE)"
        for statement in [remove, "CREATE DATABASE \(name)"] {
            try await patiently { try await book.with { try $0.script(statement) } }
        }
        let conninfo = ConnectionString(cluster.url(database: name, as: AuditTrail.ownName))
        let pool = PostgresPool(conninfo: conninfo, size: 1)
        let hit = try await body(
            { LedgerBook(pool: pool, schema: $0) },
            ["DATABASE_URL": cluster.url(database: name, as: "apart", password: Self.password)]
        )
        try await patiently { try await book.with { try $0.script(remove) } }
        return hit
    }

    private static func finish(
        _ storeledger: String,
        _ arguments: [String],
        _ environment: [String: String],
        _ failpoint: String? = nil
    ) async throws -> (code: Int32, errors: String) {
        var environment = environment
        environment["STORELEDGER_FAILPOINT"] = failpoint
        return try await withChildProcess(storeledger, arguments, environment: environment) { process in
            (await process.wait(), process.errors)
        }
    }
}

extension LedgerBook {
    /// The number of rows in all tables that an erasure changes.
    fileprivate func rowCounts() async throws -> [String] {
        var counts: [String] = []
        for table in Self.dataTables + ["erased_marks", "crawl_items"] {
            counts.append("\(table) \(try await count("SELECT count(*) FROM \(table)"))")
        }
        return counts
    }
}
