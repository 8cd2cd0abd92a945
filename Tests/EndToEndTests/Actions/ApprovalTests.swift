import FoundationEssentials
import TestSupport
import Testing

/// What may still be sent after an approval has expired, was withdrawn, or was replaced, and after a policy or a row was changed.
@Suite(.migratedDatabase)
struct ApprovalTests {
    /// What ends the approval of a batch.
    enum End: String, CaseIterable {
        case expired, withdrawn, superseded
    }

    /// How far the rows have come before.
    enum Progress: String, CaseIterable {
        /// No run has begun.
        case planned
        /// Apple has refused the token of every attempt.
        case refused
        /// A process was killed while it had leased rows.
        case leased
        /// A process was killed after it had recorded an intent.
        case intended
    }

    private static let unauthorized =
        #"{"rules": [{"endpoint": "extendRenewalDate", "fault": "status", "status": 401}]}"#

    @Test(arguments: End.allCases, Progress.allCases)
    func `AI14 AI15 AI16 rows that cannot have left are not sent after the approval has ended`(
        end: End,
        progress: Progress
    )
        async throws
    {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let ids = try await scene.extensible(5)
            try scene.list(Array(ids.prefix(4)))
            var job = ActionScene.Job()
            // With more, another request can be recorded before the process is dead.
            if progress == .leased { job.limits = job.limits.replacing("concurrency: 8", with: "concurrency: 1") }
            let path = try scene.write(job)
            let plan = try await scene.approve(path)
            let book = try scene.stage.book()
            switch progress {
            case .planned: break
            case .refused:
                try await scene.stage.store.setFaults(Self.unauthorized)
                _ = try await scene.send(path, expecting: 77)
                try await scene.stage.store.setFaults(#"{"rules": []}"#)
                #expect(try await book.count("SELECT count(*) FROM action_attempts") > 0)
            case .leased: #expect(try await scene.kill(path, at: "intentWanted@1"))
            case .intended: #expect(try await scene.kill(path, at: "intentCommitted@1"))
            }
            // Nothing has left, and the views say so, but for the request of a killed process, which can have.
            let mayHaveLeft = try await book.count("SELECT count(*) FROM action_rows WHERE may_be_applied")
            #expect(progress == .intended ? mayHaveLeft > 0 : mayHaveLeft == 0)
            #expect(
                try await book.count("SELECT count(*) FROM actions_confirmed WHERE sent_at IS NOT NULL") == mayHaveLeft
            )

            switch end {
            case .expired: try await scene.expireApprovals()
            case .withdrawn:
                let withdrawn = try await scene.stage.storeledger("actions", "withdraw", path)
                #expect(withdrawn.code == 0, "\(withdrawn.errors)")
                #expect(withdrawn.output.contains("1 batch withdrawn"), "\(withdrawn.output)")
                let again = try await scene.stage.storeledger("actions", "withdraw", path)
                #expect(again.code == 65 && again.errors.contains("nothing to withdraw"), "\(again.errors)")
            case .superseded:
                try scene.list([ids[4]])
                try await scene.approve(path)
            }
            try await scene.endLeases()
            let outcome = try await scene.send(path, expecting: end == .superseded ? 0 : 78)
            if end != .superseded {
                let word = end == .expired ? "expired at" : "was withdrawn by"
                #expect(outcome.errors.contains("the approval of batch \(plan.batch) \(word)"), "\(outcome.errors)")
            }
            let applied = try await scene.applied()
            let newest = end == .superseded ? 1 : 0
            #expect(applied.count == mayHaveLeft + newest && applied.allSatisfy { $0.applied == 1 }, "\(applied)")
            let sent = "SELECT count(*) FROM action_rows WHERE state = 'succeeded' AND first_sent_at IS NOT NULL"
            #expect(try await book.count(sent) == mayHaveLeft + newest)
            let left =
                "SELECT count(*) FROM action_rows WHERE state = '\(end == .expired ? "approved" : "cancelled")' AND first_sent_at IS NULL"
            #expect(try await book.count(left) == 4 - mayHaveLeft)
            // What was not sent is no part of an earlier batch.
            try scene.list(Array(ids.prefix(4)))
            #expect(try await scene.plan(path).rowsToSend == 4 - mayHaveLeft)
        }
    }

    @Test(arguments: End.allCases)
    func `AI14 AI15 AI16 rows that wait for a permit behind a 429 are not sent after the approval has ended`(end: End)
        async throws
    {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let ids = try await scene.extensible(5)
            try scene.list(Array(ids.prefix(4)))
            var job = ActionScene.Job()
            job.limits = job.limits.replacing("concurrency: 8", with: "concurrency: 1")
            let path = try scene.write(job)
            let plan = try await scene.approve(path)
            let outcome = try await scene.interrupt(path) {
                switch end {
                case .expired: try await scene.expireApprovals()
                case .withdrawn: #expect(try await scene.stage.storeledger("actions", "withdraw", path).code == 0)
                case .superseded:
                    try scene.list([ids[4]])
                    try await scene.approve(path)
                }
            }
            #expect(outcome.code == 78, "\(outcome.errors)")
            #expect(outcome.errors.contains("the approval of batch \(plan.batch) "), "\(outcome.errors)")
            #expect(try await scene.applied().allSatisfy { $0.applied == 0 })
            if end == .superseded {
                _ = try await scene.send(path)
                #expect(try await scene.applied().contains { $0.transactionId == ids[4] && $0.applied == 1 })
            }
        }
    }

    @Test(arguments: [
        "verdict = 'valid', state = 'approved', rule = NULL, reason = NULL", "subject = subject || '1'",
        "parameters = jsonb_set(parameters, '{extend_by_days}', '90')",
        "stake_milliunits = coalesce(stake_milliunits, 0) + 1",
        "currency = 'XXX'", "send_by = now() + interval '1 day'",
        "expires_date_before = expires_date_before - interval '1 day'",
        "transaction_id_before = '1'", "request_reference_id_before = 'reference'", "consistency_token = 'token'",
    ])
    func `AI13 an edit of anything that is sent or decides an outcome ends in 78, and nothing is sent`(change: String)
        async throws
    {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let ids = try await scene.extensible(2)
            try scene.list(ids + ["1"])
            let path = try scene.write()
            try await scene.approve(path)
            let position = change.hasPrefix("verdict") ? 3 : 2
            try await scene.stage.book().change("UPDATE action_rows SET \(change) WHERE position = \(position)")
            let outcome = try await scene.send(path, expecting: 78)
            #expect(outcome.errors.contains("No row of the batch was sent"), "\(outcome.errors)")
            #expect(try await scene.applied().isEmpty)
        }
    }

    @Test func `AI13 a row that is edited while the batch is sent ends the run with 78, and is not sent`() async throws
    {
        try await ActionScene.with(.init(customers: 40)) { scene in
            try scene.list(try await scene.extensible(4))
            var job = ActionScene.Job()
            job.limits = job.limits.replacing("concurrency: 8", with: "concurrency: 1")
            let path = try scene.write(job)
            try await scene.approve(path)
            try await scene.stage.store.setFaults(
                #"{"rules": [{"endpoint": "extendRenewalDate", "fault": "delay", "milliseconds": 400}]}"#
            )
            let book = try scene.stage.book()
            let code = try await scene.stage.withStoreledger(["actions", "run", path]) { process in
                try await poll {
                    try await book.count("SELECT count(*) FROM action_attempts") > 0 || process.hasEnded
                }
                try await book.change("UPDATE action_rows SET expires_date_before = NULL WHERE position = 4")
                return await process.wait()
            }
            #expect(code == 78)
            #expect(try await book.column("SELECT state FROM action_rows WHERE position = 4") == ["approved"])
            #expect(try await book.count("SELECT count(*) FROM action_attempts WHERE position = 4") == 0)
        }
    }

    @Test func `an approval names the verdicts: of two plans with swapped verdicts it covers one`() async throws {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let ids = try await scene.extensible(2)
            try scene.list(ids)
            let path = try scene.write()
            func revoke(_ id: String) async throws {
                try await scene.stage.book().change(
                    """
                    UPDATE transactions SET revocation_date = CASE WHEN original_transaction_id = '\(id)' THEN now() END
                     WHERE original_transaction_id IN ('\(ids[0])', '\(ids[1])')
                    """
                )
            }
            try await revoke(ids[1])
            let first = try await scene.plan(path)
            try await revoke(ids[0])
            let second = try await scene.plan(path)
            #expect(first.rowsToSend == 1 && second.rowsToSend == 1 && first.batch != second.batch)
            #expect(try await scene.approve(path, first.batch, 1).code == 65)
            _ = try await scene.send(path, expecting: 78)
            #expect(try await scene.applied().isEmpty)
        }
    }

    @Test
    func `a newer batch takes the rows that the older one has not sent, and is refused if one was sent meanwhile`()
        async throws
    {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let ids = try await scene.extensible(3)
            try scene.list(Array(ids.prefix(2)))
            let path = try scene.write()
            try await scene.approve(path)
            try scene.list(ids)
            let newer = try await scene.plan(path)
            #expect(newer.rowsToSend == 3)
            _ = try await scene.send(path)
            let refused = try await scene.approve(path, newer.batch, 3)
            #expect(
                refused.code == 65 && refused.errors.contains("another batch has sent rows of batch"),
                "\(refused.errors)"
            )
            try await scene.approve(path)
            _ = try await scene.send(path)
            let applied = try await scene.applied()
            #expect(applied.count == 3 && applied.allSatisfy { $0.applied == 1 })
        }
    }
}
