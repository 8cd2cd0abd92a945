import FoundationEssentials
import Glibc
import Postgres
import TestSupport

/// One round: one world, one database, and faults injected into the pipelines between them.
struct Round: PlayedRound {
    let plan: RoundPlan
    /// The executable `storeledger-failpoints`.
    let storeledger: String
    let cluster: Cluster
    let database: String
    let store: SimulatedStore
    let book: LedgerBook
    /// The path of the job file, which lists every customer at first.
    let job: String
    /// The text of the job file when it lists every customer.
    let listing: String
    /// The text of the job file when the customers come from the app's notifications.
    let following: String
    let secrets: [String]
    var random: SeededRandom
    var tally: Tally

    var alive: [Worker] = []
    /// All processes so far, for their output.
    var workers: [Worker] = []
    var kept = KeptPages()
    /// The number of pages that may be requested twice.
    var reworkAllowed = 0
    /// The faults and their durations.
    var diary: [String] = []
    /// Whether PostgreSQL itself was killed or stopped.
    var postgresWasKilled = false

    var seed: UInt64 { plan.seed }
    var description: String { "\(plan)" }

    static let password = "planted-pass-word"
    /// The longest time for one fault, and for completing all runs.
    private static let patience = Duration.seconds(90)

    // MARK: Processes

    /// Starts a run; `lease` divides the duration of its leases.
    mutating func start(failpoint: String? = nil, restart: Bool = false, lease: Int = 1) throws -> Worker {
        let name = "w\(workers.count + 1)"
        var environment = [
            "DATABASE_URL": cluster.url(database: database, as: name, password: Self.password),
            "STORELEDGER_FAILPOINT_LEASE": String(lease),
        ]
        environment["STORELEDGER_FAILPOINT"] = failpoint
        let arguments = ["run", job, "--progress", "none"] + (restart ? ["--restart"] : [])
        let process = try ChildProcess(storeledger, arguments, environment: environment)
        let worker = Worker(name: name, process: process, failpoint: failpoint)
        workers.append(worker)
        alive.append(worker)
        return worker
    }

    /// Removes processes that ended by themselves, and checks their exit codes.
    mutating func reap() async throws {
        for worker in alive where worker.process.hasEnded { try await judge(worker) }
    }

    /// The exit codes of a run that was not killed: complete, complete with losses, or superseded by `--restart`.
    private mutating func judge(_ worker: Worker) async throws {
        alive.removeAll { $0.name == worker.name }
        let code = await worker.process.wait()
        guard [0, 2, 75].contains(code) || (code == 137 && worker.failpoint != nil) else {
            throw BrokenInvariant(sentences: ["\(worker.name) ended with \(code): \(worker.process.errors)"])
        }
        if code == 75, !worker.process.errors.contains("replaced run") {
            throw BrokenInvariant(sentences: ["\(worker.name) gave up: \(worker.process.errors)"])
        }
    }

    /// Records that a process is dead, and ends its leases, as waiting a minute would do.
    mutating func bury(_ victim: Worker) async throws {
        alive.removeAll { $0.name == victim.name }
        reworkAllowed += plan.concurrency
        let book = book
        try await patiently { try await AuditTrail.endLeases(of: [victim.name], in: book) }
    }

    /// Waits until all processes have ended.
    mutating func settle() async throws {
        for worker in alive { _ = try await finish(worker) }
    }

    /// Waits for a process to end or to kill itself.
    mutating func finish(_ worker: Worker) async throws -> Int32 {
        guard let code = await worker.end(within: Self.patience) else {
            throw BrokenInvariant(sentences: ["I13: \(worker.name) was still at it after \(Self.patience)"])
        }
        try await judge(worker)
        return code
    }

    /// Replaces the contents of the job file, as a user does between two runs.
    ///
    /// Two files with the same job name would be refused.
    func rewriteJob(_ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: job), options: .atomic)
    }

    func isFinished() async throws -> Bool {
        try await patiently {
            try await book.count("SELECT coalesce(min((finished_at IS NOT NULL)::integer), 0) FROM runs") > 0
        }
    }

    // MARK: The whole round

    mutating func play(kills limit: Int) async throws {
        try await setFaults()
        for fault in plan.faults where tally.kills < limit {
            let began = ContinuousClock.now
            try await inject(fault)
            diary.append("\(fault.name): \((ContinuousClock.now - began) / .milliseconds(1)) ms")
        }
        try await drain()
        try await judgeDrained()
        if plan.seed.isMultiple(of: 5) {
            // The store now answers without faults, and everything is fetched again.
            try await store.setFaults("{\"rules\": []}")
            try rewriteJob(listing)
            let worker = try start(restart: true)
            _ = try await finish(worker)
            try BrokenInvariant.check(
                try await book.differences(from: store.world()).map { "I1, I2 after --restart: \($0)" }
            )
        }
    }

    /// Sets the store's fault rules: these, and after them the rule for badly signed records.
    func setFaults(_ rules: [String] = []) async throws {
        let bad = plan.badOneIn.map { #"{"fault": "forgeSignature", "oneIn": \#($0)}"# }
        try await store.setFaults("{\"rules\": [\((rules + [bad].compactMap(\.self)).joined(separator: ", "))]}")
    }

    // MARK: The end

    /// Completes the current run, and then a run that begins after the store's last change.
    mutating func drain() async throws {
        try await setFaults()
        try await settle()
        if try await !isFinished() { try await runToItsEnd() }
        try await runToItsEnd()
    }

    private mutating func runToItsEnd() async throws {
        let worker = try start()
        let code = try await finish(worker)
        guard [0, 2].contains(code) else {
            throw BrokenInvariant(sentences: ["I13: the drain ended with \(code): \(worker.process.errors)"])
        }
    }
}
