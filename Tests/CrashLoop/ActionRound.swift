import FoundationEssentials
import Glibc
import Postgres
import TestSupport

/// One round of actions: batches that are planned, approved and sent one after the other, while faults hit the processes that send
/// them.
struct ActionRound: PlayedRound {
    let plan: ActionRoundPlan
    /// The executable `storeledger-failpoints`.
    let storeledger: String
    let cluster: Cluster
    let database: String
    let store: SimulatedStore
    let book: LedgerBook
    let secrets: [String]
    var random: SeededRandom
    var tally: Tally

    var alive: [Worker] = []
    var workers: [Worker] = []
    var diary: [String] = []
    var postgresWasKilled = false
    /// Every batch that was planned to its end.
    var batches: [ActionBatchJob] = []
    /// The jobs whose approval has ended before all of their rows were sent.
    var endedJobs: Set<String> = []
    /// Transaction IDs of customers who were erased.
    var erased: Set<String> = []
    /// The number of job files so far.
    var jobs = 0
    /// The place of the next batch in the plan; a batch with too few rows is left out.
    var batchNumber = 0

    var seed: UInt64 { plan.seed }
    var description: String { "\(plan)" }

    /// The longest time for one fault, and for sending a batch to its end.
    static let patience = Duration.seconds(90)

    // MARK: Processes

    /// Starts a command; `lease` divides the duration of its leases.
    mutating func start(_ arguments: [String], failpoint: String? = nil, lease: Int = 1) throws -> Worker {
        let name = "w\(workers.count + 1)"
        var environment = [
            "DATABASE_URL": cluster.url(database: database, as: name, password: Round.password),
            "STORELEDGER_FAILPOINT_LEASE": String(lease),
        ]
        environment["STORELEDGER_FAILPOINT"] = failpoint
        let process = try ChildProcess(storeledger, arguments, environment: environment)
        let worker = Worker(name: name, process: process, failpoint: failpoint)
        workers.append(worker)
        return worker
    }

    /// Starts a process that sends the current batch.
    mutating func startSending(failpoint: String? = nil, lease: Int = 1) throws -> Worker {
        let worker = try start(
            ["actions", "run", try current.path, "--progress", "none"],
            failpoint: failpoint,
            lease: lease
        )
        alive.append(worker)
        return worker
    }

    var current: ActionBatchJob {
        get throws {
            guard let batch = batches.last else { throw SetUpFailure(code: 70, sentence: "no batch is planned") }
            return batch
        }
    }

    /// Runs a command to its end.
    mutating func finish(_ arguments: [String], failpoint: String? = nil) async throws -> Worker {
        let worker = try start(arguments, failpoint: failpoint)
        guard await worker.end(within: Self.patience) != nil else {
            throw BrokenInvariant(sentences: ["A8: \(arguments) was still at it after \(Self.patience)"])
        }
        return worker
    }

    /// Runs a command that must end with 0.
    @discardableResult
    mutating func succeed(_ arguments: [String]) async throws -> Worker {
        let worker = try await finish(arguments)
        let code = await worker.process.wait()
        guard code == 0 else {
            throw BrokenInvariant(sentences: ["\(arguments) ended with \(code): \(worker.process.errors)"])
        }
        return worker
    }

    /// Waits for a sending process to end or to kill itself, and checks its exit code.
    @discardableResult
    mutating func finish(_ worker: Worker) async throws -> Int32 {
        guard let code = await worker.end(within: Self.patience) else {
            throw BrokenInvariant(sentences: ["A8: \(worker.name) was still at it after \(Self.patience)"])
        }
        alive.removeAll { $0.name == worker.name }
        // 76: the store has refused so much that the process gave up. It is no fault of the process.
        let gaveUp = code == 76 && worker.process.errors.contains("more than half")
        let isRefused = try code == 78 && endedJobs.contains(current.name)
        guard [0, 2].contains(code) || gaveUp || isRefused || (code == 137 && worker.failpoint != nil) else {
            throw BrokenInvariant(sentences: ["\(worker.name) ended with \(code): \(worker.process.errors)"])
        }
        return code
    }

    /// Checks the processes that have ended by themselves.
    mutating func reap() async throws {
        for worker in alive where worker.process.hasEnded { try await finish(worker) }
    }

    /// Waits until all processes have ended.
    mutating func settle() async throws {
        for worker in alive { try await finish(worker) }
    }

    /// Starts processes until there are as many as the plan has.
    mutating func joinIn() throws {
        while alive.count < plan.workers { _ = try startSending() }
    }

    /// Records that a process is dead, and ends its leases, as waiting a minute would do.
    mutating func bury(_ victim: Worker) async throws {
        alive.removeAll { $0.name == victim.name }
        let book = book
        try await patiently { try await ActionAudit.endLeases(of: [victim.name], in: book) }
    }

    // MARK: The whole round

    mutating func play(kills limit: Int) async throws {
        try await crawl()
        try await planNext()
        for fault in plan.faults where tally.kills < limit {
            let began = ContinuousClock.now
            try await inject(fault)
            diary.append("\(fault.name): \((ContinuousClock.now - began) / .milliseconds(1)) ms")
        }
        try await drain()
        try await checkEnd()
    }

    mutating func crawl() async throws {
        try await succeed(["run", try writeCrawl(), "--progress", "none"])
    }

    /// The number of rows of the current batch that need a further request.
    func rowsLeft() async throws -> Int {
        let job = try current.name
        return try await patiently {
            try await book.count(
                """
                SELECT count(*) FROM action_rows JOIN action_batches USING (app_id, batch_id)
                 WHERE job = '\(job)' AND state IN ('planned', 'approved', 'sending', 'unknown', 'confirming')
                   AND parameters IS NOT NULL
                """
            )
        }
    }

    private func isFinished() async throws -> Bool {
        let job = try current.name
        let finished = try await patiently {
            try await book.count("SELECT count(finished_at) FROM action_batches WHERE job = '\(job)'")
        }
        guard finished > 0 else { return false }
        return try await rowsLeft() == 0
    }

    /// Makes sure that the current batch has work for a fault; plans the next batch if it has not.
    mutating func ensureWork(_ rows: Int = 8) async throws {
        guard try await rowsLeft() < rows else { return }
        try await drain()
        try await planNext()
    }

    /// Sends the current batch to its end.
    ///
    /// The store still refuses repeats.
    mutating func drain() async throws {
        try await setFaults(.calm)
        try await settle()
        var runs = 0
        while try await !isFinished() {
            runs += 1
            guard runs <= 5 else {
                throw BrokenInvariant(sentences: [
                    "A8: \(try await rowsLeft()) rows have no outcome after \(runs - 1) runs"
                ])
            }
            let worker = try startSending()
            try await finish(worker)
        }
        try await checkLive()
    }

    /// The fewest rows of a batch: the store never applies two of them.
    private static let fewestRows = 4

    /// Plans the next batch that has enough rows.
    mutating func planBatch() async throws {
        for _ in 0..<plan.kinds.count {
            let job = try nextJob()
            batchNumber += 1
            if try needsCrawl(job.action) { try await crawl() }
            let output = try await succeed(["actions", "plan", job.path, "--json"]).process.output
            let planned = try job.planned(output)
            diary.append("\(planned.name) \(planned.action.endpoint): \(planned.rowsToSend) rows")
            guard planned.rowsToSend < Self.fewestRows else { return batches.append(planned) }
        }
        throw SetUpFailure(code: 70, sentence: "no action of the plan has enough rows: \(plan)")
    }

    /// Whether a plan must know what earlier batches have changed: the dates, or that subscriptions were migrated.
    private func needsCrawl(_ action: ActionBatchJob.Action) throws -> Bool {
        guard let last = batches.last else { return false }
        if case .commerce(.migrateSubscription) = last.action { return true }
        if case .extend = action { return true }
        return false
    }

    /// Plans and approves a batch of a job that is not in the plan; the next one of the plan if it has no row to send.
    mutating func planNext(_ job: ActionBatchJob) async throws {
        let output = try await succeed(["actions", "plan", job.path, "--json"]).process.output
        guard let planned = try? job.planned(output), planned.rowsToSend > 0 else { return try await planNext() }
        diary.append("\(planned.name) \(planned.action.endpoint): \(planned.rowsToSend) rows")
        batches.append(planned)
        try await approve()
    }

    /// Plans and approves the next batch.
    mutating func planNext() async throws {
        try await planBatch()
        try await approve()
        try await setFaults(.faulty)
    }

    func approval() throws -> [String] {
        let batch = try current
        return ["actions", "approve", batch.path, "--batch", batch.hash, "--rows", String(batch.rowsToSend)]
    }

    mutating func approve() async throws { try await succeed(try approval()) }
}
