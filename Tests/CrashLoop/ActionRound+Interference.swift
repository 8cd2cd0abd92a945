import FoundationEssentials
import Glibc
import TestSupport

/// Changes what may be sent while processes send, kills one of them, and checks that no further row leaves.
extension ActionRound {
    mutating func interfere(_ change: InjectedFault.Interference, _ fault: InjectedFault) async throws {
        let decisions = ["GRANT_FULL", "DECLINE"]
        if case .newPolicy = change {
            // The first batch of answers: one refund request for each purchase in a round.
            try await drain()
            _ = try await store.advance(refundRequests: 40)
            try await crawl()
            try await planNext(try write(.answer(preference: decisions[0]), to: "answers"))
        } else {
            try await ensureWork(12)
        }
        try await setFaults(.slow(milliseconds: 60))
        try joinIn()
        try await Task.sleep(for: .milliseconds(Int.random(in: 50...400, using: &random)))
        // Before or after the change: the rows of the dead process were handed out by the old approval.
        let killsFirst = Bool.random(using: &random)
        if killsFirst { try await killAny() }
        endedJobs.insert(try current.name)
        switch change {
        case .expiry: try await expire()
        case .withdrawal: try await withdraw()
        case .newPolicy: _ = try write(.answer(preference: decisions[1]), to: "answers")
        }
        if !killsFirst { try await killAny() }
        tally.hit(fault)
        try await checkLive()
        // What can have left is found out, and nothing else is sent.
        try await setFaults(.calm)
        try await settle()
        var runs = 0
        while runs < 5, try await count("'sending', 'confirming', 'unknown'") > 0 {
            runs += 1
            try await finish(try startSending())
        }
        if case .newPolicy = change {
            // A run ends the approval even if no process has seen the change.
            try await finish(try startSending())
        }
        try await checkLive()
        try await withdraw()
        let left = try await rowsLeft()
        try BrokenInvariant.check(
            left == 0 ? [] : ["A11: \(left) rows of \(try current.name) are left after a withdrawal"]
        )
        if case .newPolicy = change {
            try await planNext(try write(.answer(preference: decisions[1]), to: "answers-2"))
        } else {
            try await planNext()
        }
    }

    /// The number of rows of the current batch in these states, as SQL.
    private func count(_ states: String) async throws -> Int {
        let job = try current.name
        return try await patiently {
            try await book.count(
                """
                SELECT count(*) FROM action_rows JOIN action_batches USING (app_id, batch_id)
                 WHERE job = '\(job)' AND state IN (\(states))
                """
            )
        }
    }

    /// An approval can be made shorter; this one ends now.
    private func expire() async throws {
        let job = try current.name
        _ = try await patiently {
            try await book.change(
                """
                UPDATE action_batches SET approval_expires_at = clock_timestamp()
                 WHERE job = '\(job)' AND approval_expires_at > clock_timestamp()
                """
            )
        }
    }

    /// Withdraws the approval of the current batch; 65 if nothing of it is left.
    private mutating func withdraw() async throws {
        let worker = try await finish(["actions", "withdraw", try current.path], failpoint: nil)
        let code = await worker.process.wait()
        guard code == 0 || code == 65 else {
            throw BrokenInvariant(sentences: ["A11: withdraw ended with \(code): \(worker.process.errors)"])
        }
    }

    /// Kills one of the sending processes, if one is left.
    private mutating func killAny() async throws {
        guard let victim = alive.filter({ !$0.process.hasEnded }).randomElement(using: &random) else { return }
        victim.process.signal(SIGKILL)
        if await victim.process.wait() == 137 { try await bury(victim) }
    }
}
