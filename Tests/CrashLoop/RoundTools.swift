import FoundationEssentials
import Postgres
import TestSupport

/// What all rounds share, and how a round is set up and removed.
struct RoundTools: Sendable {
    /// The executable `storeledger-failpoints`.
    let storeledger: String
    let cluster: Cluster
    /// Whether to print every fault.
    let isVerbose: Bool
    /// The crash loop's own connections to the server.
    private let server: PostgresPool

    /// The template database of every round, with the tables and the audit triggers.
    private static let template = "crash_template"

    init(storeledger: String, cluster: Cluster, isVerbose: Bool) async throws {
        self.isVerbose = isVerbose
        self.storeledger = storeledger
        self.cluster = cluster
        server = PostgresPool(
            conninfo: ConnectionString(cluster.url(database: "postgres", as: AuditTrail.ownName)),
            size: 1
        )
        do {
            try await server.withConnection { connection in
                try connection.script("DROP DATABASE IF EXISTS \(Self.template) WITH (FORCE)")
                try connection.script("CREATE DATABASE \(Self.template)")
            }
        } catch {
            throw SetUpFailure(code: 69, sentence: "PostgreSQL: \(error)")
        }
        // Any job file is suitable: only the schema is needed.
        try await withTemporaryDirectory { directory in
            try await SimulatedStore.serving(.init(customers: 1), in: directory + "/store") { store in
                let job = store.directory + "/job.yaml"
                let environment = ["DATABASE_URL": cluster.url(database: Self.template, as: AuditTrail.ownName)]
                try await withChildProcess(storeledger, ["migrate", job], environment: environment) { process in
                    guard await process.wait() == 0 else {
                        throw SetUpFailure(code: 70, sentence: "storeledger migrate: \(process.errors)")
                    }
                }
            }
        }
        let template = PostgresPool(
            conninfo: ConnectionString(cluster.url(database: Self.template, as: AuditTrail.ownName)),
            size: 1
        )
        try await template.withConnection { try $0.script(AuditTrail.install + ActionAudit.install) }
    }

    /// Plays one round.
    ///
    /// - Parameters:
    ///   - seed: Determines the round.
    ///   - workers: The most concurrent processes.
    ///   - kills: The number of faults of all rounds together.
    ///   - tally: Of all rounds so far; its target is what the round kills.
    ///   - keep: Gets what is left of a broken round.
    /// - Returns: The tally of all rounds so far, and a sentence for each violated invariant.
    func play(seed: UInt64, workers: Int, kills: Int, tally: Tally, keep: String) async -> (Tally, [String]) {
        switch tally.target {
        case .crawls:
            let plan = RoundPlan(seed: seed, workers: workers)
            return await play(plan.store, kills: kills, tally: tally, keep: keep) { store in
                try await round(plan, store, tally)
            }
        case .actions:
            let plan = ActionRoundPlan(seed: seed, workers: workers)
            return await play(plan.store, kills: kills, tally: tally, keep: keep) { store in
                try await actionRound(plan, store, tally)
            }
        }
    }

    private func play<Played: PlayedRound>(
        _ options: SimulatedStore.Options,
        kills: Int,
        tally: Tally,
        keep: String,
        _ begin: (SimulatedStore) async throws -> Played
    ) async -> (Tally, [String]) {
        var result = tally
        do {
            let broken = try await withTemporaryDirectory { directory in
                try await SimulatedStore.serving(options, in: directory + "/store") { store in
                    var round = try await begin(store)
                    let broken = await round.broken(kills: kills)
                    for worker in round.workers {
                        worker.process.signal(9)
                        await worker.process.wait()
                    }
                    result = round.tally
                    if isVerbose { round.diary.forEach { Say.line("  \($0)") } }
                    if !broken.isEmpty { try await save(round, broken, in: keep) }
                    try await drop(round.database)
                    return broken
                }
            }
            return (result, broken)
        } catch {
            return (result, ["the round could not be played: \(error)"])
        }
    }

    private func round(_ plan: RoundPlan, _ store: SimulatedStore, _ tally: Tally) async throws -> Round {
        let (database, book) = try await newDatabase(seed: plan.seed)
        let round = Round(
            plan: plan,
            storeledger: storeledger,
            cluster: cluster,
            database: database,
            store: store,
            book: book,
            job: store.directory + "/crash.yaml",
            listing: try jobText(plan, store),
            following: try jobText(plan, store, transactionIds: "{changedSince: lastRun}"),
            secrets: try secrets(of: store),
            random: SeededRandom(seed: plan.seed &* 0x9E37_79B9),
            tally: tally
        )
        try round.rewriteJob(round.listing)
        return round
    }

    private func actionRound(
        _ plan: ActionRoundPlan,
        _ store: SimulatedStore,
        _ tally: Tally
    ) async throws -> ActionRound {
        let (database, book) = try await newDatabase(seed: plan.seed)
        return ActionRound(
            plan: plan,
            storeledger: storeledger,
            cluster: cluster,
            database: database,
            store: store,
            book: book,
            secrets: try secrets(of: store),
            random: SeededRandom(seed: plan.seed &* 0x9E37_79B9),
            tally: tally
        )
    }

    private func newDatabase(seed: UInt64) async throws -> (name: String, book: LedgerBook) {
        let name = "crash_\(seed)"
        return (name, try await newDatabase(name))
    }

    /// What no output may contain: the password of the database, the private key, and parts of bearer tokens.
    private func secrets(of store: SimulatedStore) throws -> [String] {
        let key =
            try FileManager.default.contentsOfDirectory(atPath: store.directory).first { $0.hasSuffix(".p8") } ?? ""
        let keyText = try String(contentsOfFile: store.directory + "/" + key, encoding: .utf8)
        return [Round.password] + keyText.split(separator: "\n").filter { !$0.hasPrefix("-") }.map(String.init)
            + Self.tokenTraces(keyId: key.replacing("SubscriptionKey_", with: "").replacing(".p8", with: ""))
    }

    /// The parts of a bearer token's header for every position of the key's ID in it.
    private static func tokenTraces(keyId: String) -> [String] {
        ["", "x", "xx"].map { shift in
            let text = Data((shift + "\"kid\":\"" + keyId + "\"").utf8).base64EncodedString()
            return String(text.dropFirst(shift.isEmpty ? 0 : 4).dropLast(4))
        }
    }

    private func jobText(
        _ plan: RoundPlan,
        _ store: SimulatedStore,
        transactionIds: String? = nil
    ) throws -> String {
        var job = JobText(storeJob: try String(contentsOfFile: store.directory + "/job.yaml", encoding: .utf8))
        job.name = "crash"
        job.streams = [
            "transactionHistory: {}", "refundHistory: \(plan.refunds)",
            "notificationHistory: {scope: app, startDate: -2d}",
        ]
        let limits =
            plan.windowSeconds.map { "windowSeconds: \($0)" }
            ?? "requestsPerSecond: {transactionHistory: 100000, refundHistory: 100000, notificationHistory: 100000}"
        job.limits = "{concurrency: \(plan.concurrency), share: 1, \(limits)}"
        let changes = plan.publishesChanges ? ", changes: true" : ""
        job.csv = "{directory: out, tables: [transactions, refunds, notifications, renewals]\(changes)}"
        if plan.listsUnknownID {
            let list = try String(contentsOfFile: store.directory + "/ids.csv", encoding: .utf8)
            try Data("\(list)\(Round.unknownID)\n".utf8).write(to: URL(filePath: store.directory + "/more.csv"))
            job.transactionIds = "csv: {path: more.csv, column: transaction_id}"
        }
        if let transactionIds { job.transactionIds = transactionIds }
        return job.text
    }

    /// Creates a database with the schema and the audit triggers, in place of one with the same name.
    func newDatabase(_ database: String) async throws -> LedgerBook {
        try await drop(database)
        try await server.withConnection {
            try $0.script("CREATE DATABASE \(database) TEMPLATE \(Self.template)")
        }
        let pool = PostgresPool(
            conninfo: ConnectionString(cluster.url(database: database, as: AuditTrail.ownName)),
            size: 1
        )
        return LedgerBook(pool: pool, schema: "appstore")
    }

    func drop(_ database: String) async throws {
        for attempt in 1... {
            do {
                return try await server.withConnection {
                    try $0.script("DROP DATABASE IF EXISTS \(database) WITH (FORCE)")
                }
            } catch let error as PostgresError where error.isConnectionLoss && attempt < 20 {
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    /// Keeps the database, the output of all processes and the store's directory.
    private func save(_ round: some PlayedRound, _ broken: [String], in keep: String) async throws {
        let files = FileManager.default
        if files.fileExists(atPath: keep) { try files.removeItem(atPath: keep) }
        try files.createDirectory(atPath: keep, withIntermediateDirectories: true)
        var text = (["seed \(round.seed)", round.description, ""] + round.diary + [""] + broken)
            .joined(separator: "\n")
        for worker in round.workers {
            text += "\n\n== \(worker.name) \(worker.failpoint ?? "")\n\(worker.process.output)\(worker.process.errors)"
        }
        try Data(text.utf8).write(to: URL(filePath: keep + "/round.txt"))
        try files.copyItem(atPath: round.store.directory, toPath: keep + "/store")
        let url = cluster.url(database: round.database, as: AuditTrail.ownName)
        let environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
        try await withChildProcess(
            "/bin/bash",
            [
                "-c", ". \"$0\"; \"$(postgres_bindir)/pg_dump\" -f \"$2\" \"$1\"", cluster.library, url,
                keep + "/database.sql",
            ],
            environment: environment
        ) { process in
            if await process.wait() != 0 { Say.line("pg_dump: \(process.errors)") }
        }
    }
}
