import FoundationEssentials
import Glibc
import Postgres
import TestSupport

/// Injects faults into the processes that plan, approve and send, and into their database.
extension ActionRound {
    mutating func inject(_ fault: InjectedFault) async throws {
        try await reap()
        switch fault {
        case .point(let planned): try await inject(planned, as: fault)
        case .kill: try await killOne(fault)
        case .pause: try await stop(at: nil, fault)
        case .stopAt(let planned): try await stop(at: planned, fault)
        case .cutCommit: try await cutCommit(fault)
        case .terminate, .terminateTwice: try await terminate(fault)
        case .killBackend, .killPostmaster, .stopPostgresAtOnce: try await breakPostgres(fault)
        case .interference(let change): try await interfere(change, fault)
        case .erasure: try await eraseCustomer(fault)
        case .cutPages: tally.miss(fault)
        }
    }

    private mutating func inject(_ planned: PlannedPoint, as fault: InjectedFault) async throws {
        switch planned.point.situation {
        case .planning: try await killPlan(planned, fault)
        case .approving: try await killApproval(planned, fault)
        case .results: try await killResults(planned, fault)
        default: try await killSending(planned, fault)
        }
    }

    /// A plan that is killed before its COMMIT leaves no batch (CP51).
    private mutating func killPlan(_ planned: PlannedPoint, _ fault: InjectedFault) async throws {
        let job = try nextJob()
        let victim = try await finish(["actions", "plan", job.path], failpoint: planned.failpoint("kill"))
        guard note(victim, fault) else { return }
        let left = try await patiently {
            try await book.count("SELECT count(*) FROM action_batches WHERE job = '\(job.name)'")
        }
        try BrokenInvariant.check(left == 0 ? [] : ["CP51: a plan that was killed has left a batch"])
    }

    /// An approval that is killed before its COMMIT leaves the batch as it was, and is given once (CP56).
    private mutating func killApproval(_ planned: PlannedPoint, _ fault: InjectedFault) async throws {
        try await drain()
        try await planBatch()
        let job = try current.name
        let victim = try await finish(try approval(), failpoint: planned.failpoint("kill"))
        let isHit = note(victim, fault)
        let approved = try await patiently {
            try await book.count("SELECT count(approved_at) FROM action_batches WHERE job = '\(job)'")
        }
        try BrokenInvariant.check(isHit == (approved == 0) ? [] : ["CP56: a killed approval counts"])
        if isHit { try await approve() }
        try await setFaults(.faulty)
    }

    /// Result files that are killed in the middle are replaced as a whole by the next ones.
    private mutating func killResults(_ planned: PlannedPoint, _ fault: InjectedFault) async throws {
        let arguments = ["actions", "results", try current.path, "--directory", store.directory + "/killed"]
        for planned in [planned, planned.first] {
            let victim = try await finish(arguments, failpoint: planned.failpoint("kill"))
            if note(victim, fault) { break }
        }
        try await succeed(arguments)
        try BrokenInvariant.check(try missingRows(in: "killed", of: try current))
    }

    /// Lets one of the sending processes kill itself at a crash point; when it does not reach the point, tries the first pass of it.
    private mutating func killSending(_ planned: PlannedPoint, _ fault: InjectedFault) async throws {
        for planned in [planned, planned.first, planned.first] {
            try await ensureWork()
            var lease = 1
            switch planned.point.situation {
            case .sendingHeartbeat:
                // The leases of a fast process would end before their first renewal.
                try await settle()
                try await ensureWork(6)
                try await setFaults(.slow(milliseconds: 400))
                lease = 40
            case .sendingClosing: try await setFaults(.rateLimited)
            case .finishing: try await setFaults(.calm)
            default: break
            }
            let victim = try startSending(failpoint: planned.failpoint("kill"), lease: lease)
            if planned.point.situation == .sending { try joinIn() }
            try await finish(victim)
            try await setFaults(.faulty)
            if note(victim, fault) { return try await afterDeath(of: victim) }
        }
    }

    /// Records whether a process killed itself at its crash point.
    private mutating func note(_ victim: Worker, _ fault: InjectedFault) -> Bool {
        let isHit = victim.process.hasEnded && victim.hasReachedPoint
        if isHit { tally.hit(fault) } else { tally.miss(fault) }
        return isHit
    }

    private mutating func afterDeath(of victim: Worker) async throws {
        try await checkLive()
        try await bury(victim)
    }

    private mutating func killOne(_ fault: InjectedFault) async throws {
        for _ in 0..<3 {
            try await ensureWork()
            try await setFaults(.slow(milliseconds: 60))
            try joinIn()
            let victim = alive[Int.random(in: alive.indices, using: &random)]
            try await Task.sleep(for: .milliseconds(Int.random(in: 50...700, using: &random)))
            victim.process.signal(SIGKILL)
            let code = await victim.process.wait()
            try await setFaults(.faulty)
            guard code == 137 else {
                tally.miss(fault)
                try await reap()
                continue
            }
            alive.removeAll { $0.name == victim.name }
            tally.hit(fault)
            return try await afterDeath(of: victim)
        }
    }

    /// Stops a process until its leases have expired and another one has taken its rows, and then continues it.
    ///
    /// Both send the same requests with the same IDs.
    private mutating func stop(at planned: PlannedPoint?, _ fault: InjectedFault) async throws {
        try await ensureWork()
        try await settle()
        try await ensureWork()
        try await setFaults(.slow(milliseconds: 60))
        let victim = try startSending(failpoint: planned?.failpoint("stop"), lease: 40)
        if planned == nil {
            try await Task.sleep(for: .milliseconds(Int.random(in: 200...600, using: &random)))
            victim.process.signal(SIGSTOP)
        } else if await victim.process.errorLine(with: "failpoint ") == nil {
            tally.miss(fault)
            try await setFaults(.faulty)
            return
        }
        let isStopped = !victim.process.hasEnded
        let heir = try startSending()
        try await Task.sleep(for: .milliseconds(1_800))
        try await checkLive()
        try await victim.process.resume()
        if isStopped { tally.hit(fault) } else { tally.miss(fault) }
        try await finish(victim)
        try await finish(heir)
        try await setFaults(.faulty)
        try await checkLive()
    }

    private mutating func cutCommit(_ fault: InjectedFault) async throws {
        for attempt in 0..<2 {
            try await ensureWork()
            let first = Bool.random(using: &random) ? "intentInserted" : "outcomeUpdated"
            let nth = attempt == 0 ? Int.random(in: 1...4, using: &random) : 1
            let victim = try startSending(failpoint: "\(first)@\(nth),commitSent@1=cut")
            try await finish(victim)
            guard victim.hasReachedPoint else {
                tally.miss(fault)
                continue
            }
            tally.hit(fault)
            return try await checkLive()
        }
    }

    private mutating func terminate(_ fault: InjectedFault) async throws {
        try await ensureWork()
        try await settle()
        try await ensureWork()
        try await setFaults(.slow(milliseconds: 100))
        let victim = try startSending()
        try await Task.sleep(for: .milliseconds(Int.random(in: 100...700, using: &random)))
        let began = ContinuousClock.now
        victim.process.signal(SIGTERM)
        if case .terminateTwice = fault { victim.process.signal(SIGTERM) }
        guard let code = await victim.end(within: .seconds(20)) else {
            throw BrokenInvariant(sentences: ["A9: SIGTERM did not end \(victim.name)"])
        }
        let elapsed = ContinuousClock.now - began
        alive.removeAll { $0.name == victim.name }
        try await setFaults(.faulty)
        switch code {
        case 75:
            tally.hit(fault)
            try BrokenInvariant.check(elapsed < .seconds(10) ? [] : ["A9: \(victim.name) took \(elapsed) to stop"])
            let held = try await patiently {
                try await book.count(
                    "SELECT count(*) FROM action_rows WHERE lease_owner IS NOT NULL AND claimable_at > clock_timestamp()"
                )
            }
            try BrokenInvariant.check(held == 0 ? [] : ["A9: \(held) rows were not given back"])
            try await checkLive()
        case 143:
            tally.hit(fault)
            try await afterDeath(of: victim)
        case 0, 2: tally.miss(fault)
        default: throw BrokenInvariant(sentences: ["A9: \(victim.name) ended with \(code): \(victim.process.errors)"])
        }
    }

    /// A server process of one of the sending processes; waits until one of them has connected.
    private mutating func backend() async throws -> Int? {
        while alive.contains(where: { !$0.process.hasEnded }) {
            let backends = try await book.column(
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'w%'"
            )
            if let backend = backends.randomElement(using: &random) { return Int(backend) }
            try await Task.sleep(for: .milliseconds(20))
        }
        return nil
    }

    private mutating func breakPostgres(_ fault: InjectedFault) async throws {
        try await ensureWork()
        try await setFaults(.slow(milliseconds: 60))
        try joinIn()
        try await Task.sleep(for: .milliseconds(Int.random(in: 150...600, using: &random)))
        switch fault {
        case .killBackend:
            guard let victim = try await backend(), try await cluster.killBackend(process: victim) else {
                return tally.miss(fault)
            }
        case .killPostmaster: try await cluster.killPostmaster()
        default: try await cluster.stopAtOnce()
        }
        postgresWasKilled = true
        tally.hit(fault)
        try await setFaults(.faulty)
        try await checkLive()
    }
}
