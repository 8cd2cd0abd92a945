import FoundationEssentials
import Glibc
import Postgres
import TestSupport

/// Injects faults into the processes, their database and their connections.
extension Round {
    mutating func inject(_ fault: InjectedFault) async throws {
        try await reap()
        switch fault {
        case .point(let planned): try await inject(planned, as: fault)
        case .kill: try await killOne(fault)
        case .pause: try await pause(fault)
        case .stopAt(let planned): try await stop(at: planned, fault)
        case .cutCommit: try await cutCommit(fault)
        case .terminate, .terminateTwice: try await terminate(fault)
        case .killBackend, .killPostmaster, .stopPostgresAtOnce: try await breakPostgres(fault)
        case .cutPages: try await cutPages(fault)
        case .erasure, .interference: tally.miss(fault)
        }
    }

    /// Lets one process kill itself at a crash point; when it does not reach the point, sets up an easier situation.
    private mutating func inject(_ planned: PlannedPoint, as fault: InjectedFault) async throws {
        if planned.point.situation == .migration { return try await killMigration(planned, fault) }
        if planned.point.situation == .erasure { return try await killErasure(planned, fault) }
        for (attempt, planned) in [planned, planned.first, planned.first].enumerated() {
            let restart = try await prepare(planned.point.situation, isRetry: attempt > 0)
            let lease = planned.point.situation == .heartbeat ? 40 : 1
            let victim = try start(failpoint: planned.failpoint("kill"), restart: restart, lease: lease)
            if planned.point.situation == .anyRun, attempt == 0 { try await joinIn() }
            let code = try await finish(victim)
            if planned.point.situation.needsFaults { try await setFaults() }
            guard code == 137, victim.hasReachedPoint else {
                tally.miss(fault)
                continue
            }
            tally.hit(fault)
            return try await afterDeath(of: victim)
        }
    }

    /// Sets up the situation of a crash point.
    ///
    /// - Returns: Whether the process must start a new run.
    private mutating func prepare(_ situation: CrashSite.Situation, isRetry: Bool) async throws -> Bool {
        switch situation {
        case .anyRun:
            if try await isFinished() { _ = try await store.advance(changes: 6) }
            if isRetry { try await settle() }
            return isRetry
        case .records, .rejects, .heartbeat:
            if situation == .heartbeat {
                try await setFaults([#"{"fault": "delay", "milliseconds": 60}"#])
            }
            let isRunning = try await !isFinished()
            if isRunning, !isRetry, situation == .records { return false }
            try await settle()
            return true
        case .naming:
            try await settle()
            if try await !isFinished() { try await drain() }
            try rewriteJob(following)
            _ = try await store.advance(changes: 6)
            return false
        case .newRun:
            try await settle()
            if try await !isFinished() { try await drain() }
            try rewriteJob(listing)
            return Bool.random(using: &random)
        case .publishing, .publishingTables, .publishingChanges:
            try await settle()
            if try await isFinished() { _ = try await store.advance(changes: 3) }
            return false
        case .closing:
            if try await isFinished() { _ = try await store.advance(changes: 3) }
            let moment = Int64(Date.now.timeIntervalSince1970 * 1_000) + 1_500
            try await setFaults([#"{"atRequest": 2, "fault": "rateLimited", "retryAfter": ["\#(moment)"]}"#])
            return isRetry
        case .refusals:
            try await settle()
            try rewriteJob(listing)
            try await setFaults([#"{"everyNth": 3, "times": 4, "fault": "expireToken"}"#])
            return plan.listsUnknownID && isRetry
        case .migration, .erasure, .planning, .approving, .sending, .finishing, .sendingHeartbeat, .sendingClosing,
            .results:
            return false
        }
    }

    /// Starts other processes besides the victim.
    private mutating func joinIn() async throws {
        while alive.count < plan.workers { _ = try start() }
    }

    private mutating func afterDeath(of victim: Worker) async throws {
        try await judgeLive()
        try await bury(victim)
    }

    private mutating func killOne(_ fault: InjectedFault) async throws {
        _ = try await store.advance(changes: 6)
        try await joinIn()
        let victim = alive[Int.random(in: alive.indices, using: &random)]
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...900, using: &random)))
        victim.process.signal(SIGKILL)
        let code = await victim.process.wait()
        guard code == 137 else {
            try await reap()
            return try await killLate(fault)
        }
        tally.hit(fault)
        try await afterDeath(of: victim)
    }

    /// Kills a process that has just started, when the first one had already ended.
    private mutating func killLate(_ fault: InjectedFault) async throws {
        tally.miss(fault)
        let victim = try start(restart: true)
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...300, using: &random)))
        victim.process.signal(SIGKILL)
        guard await victim.process.wait() == 137 else { return tally.miss(fault) }
        tally.hit(fault)
        try await afterDeath(of: victim)
    }

    private mutating func pause(_ fault: InjectedFault) async throws {
        try await settle()
        try await setFaults([#"{"fault": "delay", "milliseconds": 40}"#])
        let before = try await store.requests().arrivals.count
        let victim = try start(restart: true, lease: 40)
        try await Task.sleep(for: .milliseconds(Int.random(in: 200...700, using: &random)))
        victim.process.signal(SIGSTOP)
        try await wakeLater(victim, since: before, fault)
    }

    private mutating func stop(at planned: PlannedPoint, _ fault: InjectedFault) async throws {
        try await settle()
        try await setFaults([#"{"fault": "delay", "milliseconds": 40}"#])
        let before = try await store.requests().arrivals.count
        let victim = try start(failpoint: planned.failpoint("stop"), restart: true, lease: 40)
        guard await victim.process.errorLine(with: "failpoint ") != nil else {
            try await setFaults()
            return tally.miss(fault)
        }
        try await wakeLater(victim, since: before, fault)
    }

    /// Lets the leases of a stopped process expire and other processes take them, then continues it.
    ///
    /// It started without other processes, after `before` requests, so the later requests have its tokens.
    private mutating func wakeLater(_ victim: Worker, since before: Int, _ fault: InjectedFault) async throws {
        let isRunning = !victim.process.hasEnded
        let tokens = Set(try await store.requests().arrivals.dropFirst(before).compactMap(\.token))
        let heir = try start()
        try await Task.sleep(for: .milliseconds(1_800))
        try await victim.process.resume()
        if isRunning { tally.hit(fault) } else { tally.miss(fault) }
        reworkAllowed += 2 * plan.concurrency
        try await setFaults()
        _ = try await finish(victim)
        _ = try await finish(heir)
        // Requests that were being sent when the process was stopped cannot be recalled.
        let strayed = try await strayed(victim, tokens)
        try BrokenInvariant.check(
            strayed <= plan.concurrency ? [] : ["I8: \(victim.name) asked \(strayed) times for what others held"]
        )
        try await judgeLive()
    }

    /// The number of requests with a process's tokens for items that another process had leased at that moment.
    private func strayed(_ victim: Worker, _ tokens: Set<String>) async throws -> Int {
        let claims = try await book.with { connection in
            try connection.run(
                "SELECT stream, item_key, worker, (extract(epoch FROM at) * 1000)::bigint AS ms FROM audit.claims ORDER BY at"
            ).map { row in
                (
                    item: "\(try row.text("stream")) \(try row.text("item_key"))", worker: try row.text("worker"),
                    at: try row.int64("ms")
                )
            }
        }
        let byItem = Dictionary(grouping: claims, by: \.item)
        return try await store.requests().arrivals.count { arrival in
            guard let token = arrival.token, tokens.contains(token), let id = arrival.transactionId else {
                return false
            }
            let holder = byItem["\(arrival.endpoint) \(id)"]?.last { $0.at <= arrival.at }
            return holder.map { $0.worker != victim.name } ?? false
        }
    }

    private mutating func cutCommit(_ fault: InjectedFault) async throws {
        for attempt in 0..<2 {
            if attempt > 0 { try await settle() }
            let planned = PlannedPoint(
                .named("commitSent"),
                nth: attempt == 0 ? Int.random(in: 1...8, using: &random) : 1
            )
            let victim = try start(failpoint: planned.failpoint("cut"), restart: attempt > 0)
            _ = try await finish(victim)
            guard victim.hasReachedPoint else {
                tally.miss(fault)
                continue
            }
            tally.hit(fault)
            reworkAllowed += plan.concurrency
            return try await judgeLive()
        }
    }

    private mutating func terminate(_ fault: InjectedFault) async throws {
        try await settle()
        try await setFaults([#"{"fault": "delay", "milliseconds": 30}"#])
        let victim = try start(restart: true)
        try await Task.sleep(for: .milliseconds(Int.random(in: 100...700, using: &random)))
        let began = ContinuousClock.now
        victim.process.signal(SIGTERM)
        if case .terminateTwice = fault { victim.process.signal(SIGTERM) }
        guard let code = await victim.end(within: .seconds(20)) else {
            throw BrokenInvariant(sentences: ["CP45: SIGTERM did not end \(victim.name)"])
        }
        try await setFaults()
        alive.removeAll { $0.name == victim.name }
        reworkAllowed += plan.concurrency
        guard [75, 143].contains(code) else {
            guard [0, 2].contains(code) else {
                throw BrokenInvariant(sentences: ["CP45: \(victim.name) ended with \(code): \(victim.process.errors)"])
            }
            return tally.miss(fault)
        }
        tally.hit(fault)
        try await judgeLive()
        if code == 75 {
            guard ContinuousClock.now - began < .seconds(10) else {
                throw BrokenInvariant(sentences: ["CP45: \(victim.name) took longer than 10 s to stop"])
            }
            let left = try await book.count(
                """
                SELECT count(*) FROM crawl_items i JOIN audit.claims c USING (stream, item_key)
                 WHERE i.state = 'leased' AND c.epoch = i.lease_epoch AND c.worker = '\(victim.name)'
                """
            )
            try BrokenInvariant.check(left == 0 ? [] : ["CP45: \(left) leases were not given back"])
        } else {
            try await bury(victim)
        }
    }

    private mutating func breakPostgres(_ fault: InjectedFault) async throws {
        _ = try await store.advance(changes: 6)
        try await joinIn()
        try await Task.sleep(for: .milliseconds(Int.random(in: 150...700, using: &random)))
        switch fault {
        case .killBackend:
            let backends = try await book.column(
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'w%'"
            )
            guard let victim = backends.randomElement(using: &random).flatMap({ Int($0) }) else {
                return tally.miss(fault)
            }
            guard try await cluster.killBackend(process: victim) else { return tally.miss(fault) }
        case .killPostmaster: try await cluster.killPostmaster()
        default: try await cluster.stopAtOnce()
        }
        postgresWasKilled = true
        tally.hit(fault)
        reworkAllowed += alive.count * plan.concurrency
        try await judgeLive()
    }

    private mutating func cutPages(_ fault: InjectedFault) async throws {
        if try await isFinished() { _ = try await store.advance(changes: 6) }
        let before = try await store.requests().arrivals.count
        try await setFaults([
            #"{"everyNth": 7, "times": 4, "fault": "dropConnection"}"#,
            #"{"everyNth": 5, "times": 4, "fault": "truncateBody", "bytes": 900}"#,
        ])
        let worker = try start(restart: try await isFinished())
        _ = try await finish(worker)
        try await setFaults()
        let after = try await store.requests().arrivals
        // The store counts a truncated page as answered.
        reworkAllowed += 8
        if after.count - before >= 7 { tally.hit(fault) } else { tally.miss(fault) }
        try await judgeLive()
    }
}

extension CrashSite.Situation {
    /// Whether the fault needs fault rules of the store.
    fileprivate var needsFaults: Bool {
        switch self {
        case .heartbeat, .closing, .refusals: true
        default: false
        }
    }
}
