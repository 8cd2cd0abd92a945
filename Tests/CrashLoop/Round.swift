import FoundationEssentials
import Glibc
import Postgres
import TestSupport

/// One world, one database, and what is done to the pipelines between them.
struct Round {
    let plan: RoundPlan
    /// Built with `-DFAILPOINTS`.
    let storeledger: String
    let cluster: Cluster
    let database: String
    let store: SimulatedStore
    let book: LedgerBook
    /// The job that lists every customer.
    let listing: String
    /// The same job, taking its customers from the app's notifications.
    let following: String
    let secrets: [String]
    var random: SeededRandom
    var tally: Tally

    var alive: [Worker] = []
    /// Everybody there ever was, for what they said.
    var workers: [Worker] = []
    var kept = KeptPages()
    /// Pages that may have been asked for in vain.
    var reworkAllowed = 0
    /// Whether the runs take their customers from notifications; one that listed them all has come before.
    var isFollowing = false
    /// What was done, and how long it took.
    var diary: [String] = []
    /// Whether PostgreSQL itself was hurt.
    var postgresWasKilled = false

    var job: String { isFollowing ? following : listing }

    static let password = "planted-pass-word"
    /// No blow, and no drain, may take longer.
    private static let patience = Duration.seconds(90)

    // MARK: Processes

    /// Starts a run; with `lease`, its leases last so many times shorter.
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

    /// Forgets who has ended by itself, and judges how.
    mutating func reap() async throws {
        for worker in alive where worker.process.hasEnded { try await judge(worker) }
    }

    /// What a run that nobody killed may end with: complete, complete with losses, or superseded by `--restart`.
    private mutating func judge(_ worker: Worker) async throws {
        alive.removeAll { $0.name == worker.name }
        let code = await worker.process.wait()
        guard [0, 2, 75].contains(code) || (code == 137 && worker.failpoint != nil) else {
            throw BrokenPromise(sentences: ["\(worker.name) ended with \(code): \(worker.process.errors)"])
        }
        if code == 75, !worker.process.errors.contains("took the place") {
            throw BrokenPromise(sentences: ["\(worker.name) gave up: \(worker.process.errors)"])
        }
    }

    /// Notes that a process is dead, and does for its leases what a minute's wait would.
    mutating func bury(_ victim: Worker) async throws {
        alive.removeAll { $0.name == victim.name }
        reworkAllowed += plan.concurrency
        let book = book
        try await patiently { try await AuditTrail.endLeases(of: [victim.name], in: book) }
    }

    /// Asks the database again where a blow to it has cut the line.
    func patiently<Result>(_ body: () async throws -> Result) async throws -> Result {
        var attempt = 0
        while true {
            do {
                return try await body()
            } catch let error as PostgresError where error.isConnectionLoss && attempt < 20 {
                attempt += 1
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    /// Waits until nobody is at work any more.
    mutating func settle() async throws {
        for worker in alive { _ = try await finish(worker) }
    }

    /// Waits for a process to end by itself or by its own hand.
    mutating func finish(_ worker: Worker) async throws -> Int32 {
        guard let code = await worker.end(within: Self.patience) else {
            throw BrokenPromise(sentences: ["I13: \(worker.name) was still at it after \(Self.patience)"])
        }
        try await judge(worker)
        return code
    }

    func isFinished() async throws -> Bool {
        try await patiently {
            try await book.count("SELECT coalesce(min((finished_at IS NOT NULL)::integer), 0) FROM runs") > 0
        }
    }

    // MARK: The whole round

    /// Plays it, and ends at the first promise that is broken.
    ///
    /// - Parameter limit: Of all rounds together.
    /// - Returns: A sentence for each broken promise.
    mutating func broken(kills limit: Int) async -> [String] {
        do {
            try await play(kills: limit)
            return []
        } catch let promise as BrokenPromise {
            return promise.sentences
        } catch {
            return ["the round ended with \(error)"]
        }
    }

    private mutating func play(kills limit: Int) async throws {
        try await misbehave()
        for blow in plan.blows where tally.kills < limit {
            let began = ContinuousClock.now
            try await strike(blow)
            diary.append("\(blow.name): \((ContinuousClock.now - began) / .milliseconds(1)) ms")
        }
        try await drain()
        try await judgeDrained()
        if plan.seed.isMultiple(of: 5) {
            // Everything is good now, and asked for again.
            try await store.misbehave("{\"rules\": []}")
            isFollowing = false
            let worker = try start(restart: true)
            _ = try await finish(worker)
            try BrokenPromise.check(
                try await book.differences(from: store.world()).map { "I1, I2 after --restart: \($0)" }
            )
        }
    }

    /// The store's faults: these rules, and behind them the records that are always badly signed.
    func misbehave(_ rules: [String] = []) async throws {
        let bad = plan.badOneIn.map { #"{"fault": "forgeSignature", "oneIn": \#($0)}"# }
        try await store.misbehave("{\"rules\": [\((rules + [bad].compactMap(\.self)).joined(separator: ", "))]}")
    }

    // MARK: The end

    /// Lets everything come to its end: the run that was under way, and then one that begins after the store's last change.
    mutating func drain() async throws {
        try await misbehave()
        try await settle()
        if try await !isFinished() { try await runToItsEnd() }
        try await runToItsEnd()
    }

    private mutating func runToItsEnd() async throws {
        let worker = try start()
        let code = try await finish(worker)
        guard [0, 2].contains(code) else {
            throw BrokenPromise(sentences: ["I13: the drain ended with \(code): \(worker.process.errors)"])
        }
    }
}
