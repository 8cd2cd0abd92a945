import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Refund requests that Apple posts to a receiver, and that a policy answers that was approved in advance.
@Suite(.migratedDatabase)
struct FollowRequestsTests {
    /// A store that posts to a receiver; no crawl has run.
    private struct Scene {
        let stage: Stage
        let book: LedgerBook
        /// The path of the job file that answers.
        let job: String
        private let actions: ActionScene
        private let roles: LedgerRoles

        init(_ stage: Stage, receiver: String, _ roles: LedgerRoles) throws {
            self.stage = stage
            self.roles = roles
            book = try stage.book()
            actions = ActionScene(stage: stage, crawl: receiver)
            job = try actions.write(ConsumptionPolicyTests.job(rules: FollowRequestsTests.rules))
        }

        /// Writes the job file again, with another answer.
        func change(_ answer: String) throws {
            let rules = FollowRequestsTests.rules.replacing("GRANT_FULL", with: answer)
            try actions.write(ConsumptionPolicyTests.job(rules: rules))
        }

        /// Runs a command as the role that plans and sends, or as the one that approves.
        func run(_ arguments: String..., as role: String = "actor") async throws -> Stage.Outcome {
            try await stage.withStoreledger(arguments, environment: environment(role)) { process in
                let code = await process.wait()
                return Stage.Outcome(code: code, output: process.output, errors: process.errors)
            }
        }

        private func environment(_ role: String) -> [String: String] {
            ["DATABASE_URL": stage.databaseURL(role: roles.name(role))]
        }

        func policy() async throws -> String {
            struct Rehearsal: Decodable { let policy: String }
            let outcome = try await run("actions", "rehearse", job, "--json")
            try #require(outcome.code == 0, "\(outcome.errors)")
            return try JSONDecoder().decode(Rehearsal.self, from: Data(outcome.output.utf8)).policy
        }

        func approve(_ policy: String, rows: Int, code: Int32 = 0, _ location: SourceLocation = #_sourceLocation)
            async throws -> Stage.Outcome
        {
            let options = ["actions", "approve", job, "--policy", policy, "--rows", "\(rows)", "--expires", "30d"]
            let outcome = try await stage.withStoreledger(options, environment: environment("approver")) { process in
                let code = await process.wait()
                return Stage.Outcome(code: code, output: process.output, errors: process.errors)
            }
            #expect(outcome.code == code, "\(outcome.errors)", sourceLocation: location)
            return outcome
        }

        /// Runs `actions run --follow` during `body`, and expects that it has begun before.
        func following(_ body: (ChildProcess) async throws -> Void) async throws {
            let arguments = ["actions", "run", job, "--follow"]
            try await stage.withStoreledger(arguments, environment: environment("actor")) { process in
                let line = await process.errorLine(with: "answering refund requests")
                try #require(line != nil, "\(process.errors)")
                try await body(process)
            }
        }

        /// Expects that a process ends by itself, or does not begin, because the policy may not be used.
        func expectRefused(_ process: ChildProcess, _ words: String, _ location: SourceLocation = #_sourceLocation)
            async
        {
            #expect(await process.wait() == 78, "\(process.errors)", sourceLocation: location)
            #expect(process.errors.contains(words), "\(process.errors)", sourceLocation: location)
        }

        /// Runs `actions run --follow` during `body` until it stops or kills itself at a crash point.
        func following(failpoint: String, _ body: (ChildProcess) async throws -> Void) async throws {
            let arguments = ["actions", "run", job, "--follow"]
            let variables = environment("actor").merging(["STORELEDGER_FAILPOINT": failpoint]) { $1 }
            try await withChildProcess(Executables.failpoints, arguments, environment: variables) { process in
                let line = await process.errorLine(with: "failpoint ")
                try #require(line != nil, "\(process.errors)")
                try await body(process)
            }
        }

        /// Ends the leases of killed processes, as waiting a minute would do.
        func endLeases() async throws { try await actions.endLeases() }

        /// What Apple received about each purchase, in the order of the requests.
        func preferences() async throws -> [String: Set<String>] {
            struct Answer: Decodable, Sendable {
                struct Body: Decodable { let refundPreference: String? }
                let transactionId: String?
                let body: Body?
                let applied: Int
            }
            let told = try await stage.store.actions(as: Answer.self).filter { $0.applied > 0 }
            return Dictionary(
                told.map { ($0.transactionId ?? "", [$0.body?.refundPreference ?? "none"]) },
                uniquingKeysWith: { $0.union($1) }
            )
        }

        /// Lets customers ask for refunds, and waits until the receiver has made records of Apple's requests.
        func ask(_ count: Int) async throws {
            _ = try await stage.store.advance(refundRequests: count)
            try await poll { try await stage.store.deliveries().allSatisfy { $0.answered > 0 } }
            try await poll { try await book.count(FollowRequestsTests.pending) == 0 }
        }

        func answers() async throws -> [ActionScene.Applied] { try await actions.applied() }
    }

    fileprivate static let pending =
        "SELECT count(*) FROM received_notifications WHERE normalised_at IS NULL AND refused_because IS NULL"

    fileprivate static let rules = """
        - when: {advancedCommerce: true}
          answer: none
        - when: {productTypes: [AUTO_RENEWABLE]}
          answer: none
        - answer: {deliveryStatus: DELIVERED, sampleContentProvided: false, refundPreference: GRANT_FULL}
        """

    private func scene(_ body: (Scene) async throws -> Void) async throws {
        // Free again once the listener is gone.
        let port = try LoopbackListener().port
        var options = SimulatedStore.Options(customers: 40)
        options.arguments = ["--notify-url", "http://127.0.0.1:\(port)/notifications", "--retry-speed", "36000"]
        try await Stage.with(options) { stage in
            let path = try await stage.migrated(stage.job)
            try await stage.withStoreledger(["receive", path, "--listen", "127.0.0.1:\(port)"]) { receiver in
                let line = await receiver.errorLine(with: "receiving notifications")
                try #require(line != nil, "\(receiver.errors)")
                try await LedgerRoles.with { roles in
                    try await body(try Scene(stage, receiver: path, roles))
                }
            }
        }
    }

    /// The requests that the policy answers, and how many of them have an answer.
    private static let answerable = """
        SELECT count(DISTINCT r.transaction_id) FROM consumption_requests r JOIN transactions t USING (app_id, transaction_id)
         WHERE r.is_open AND t.type <> 'Auto-Renewable Subscription' AND NOT t.payload ? 'advancedCommerceInfo'
        """
    private static let answered = "\(answerable) AND answer_state = 'succeeded'"

    @Test
    func `RP13 RP14 RP15 RP16 received refund requests are answered by an approved policy, until its approval ends`()
        async throws
    {
        try await scene { scene in
            // No approval: nothing is sent.
            let none = try await scene.run("actions", "run", scene.job, "--follow")
            #expect(none.code == 78 && none.errors.contains("the policy is not approved"), "\(none.errors)")
            let policy = try await scene.policy()
            #expect(none.errors.contains("storeledger actions approve \(scene.job) --policy \(policy) --rows N"))
            let other = String(repeating: "0", count: 64)
            let wrong = try await scene.approve(other, rows: 10, code: 65)
            #expect(wrong.errors.contains("is \(policy), not \(other); nothing was approved"), "\(wrong.errors)")
            let noTerm = try await scene.run("actions", "approve", scene.job, "--policy", policy, "--rows", "5")
            #expect(noTerm.code == 64 && noTerm.errors.contains("--policy needs --expires"), "\(noTerm.errors)")
            _ = try await scene.approve(policy, rows: 0, code: 64)

            // Two processes answer each request once, until the rows of the approval are used up.
            try await scene.ask(60)
            let first = try await scene.book.count(Self.answerable)
            try #require(first > 0)
            let said = try await scene.approve(policy, rows: first + 2)
            #expect(said.output.hasPrefix("answers: policy \(policy) approved by "), "\(said.output)")
            try await scene.following { one in
                try await scene.following { another in
                    try await poll { try await scene.book.count(Self.answered) == first }
                    // The next step of the store decides the requests that have an answer.
                    try await scene.ask(60)
                    for process in [one, another] {
                        await scene.expectRefused(process, "all \(first + 2) rows of the policy's approval are used")
                    }
                }
            }
            let answers = try await scene.answers()
            #expect(answers.count == first + 2, "\(answers)")
            #expect(answers.allSatisfy { $0.requested == 1 && $0.applied == 1 }, "\(answers)")
            let batches = """
                SELECT DISTINCT concat_ws(' ', b.approved_by LIKE '%_approver', b.planned_by LIKE '%_actor', b.policy_sha256 = '\(policy)',
                                          b.rows_to_send = b.approved_rows, b.approval_required, b.finished_at IS NOT NULL)
                  FROM action_batches b WHERE policy_approval_id IS NOT NULL
                """
            #expect(try await scene.book.column(batches) == ["t t t t t t"])

            // A new approval continues, and a withdrawal ends it.
            _ = try await scene.approve(policy, rows: 100)
            try await scene.following { process in
                let open = try await scene.book.count(Self.answerable)
                try await poll { try await scene.book.count(Self.answered) == open }
                #expect(try await scene.run("actions", "withdraw", scene.job).code == 77)
                let withdrawn = try await scene.run("actions", "withdraw", scene.job, as: "approver")
                #expect(withdrawn.code == 0 && withdrawn.output.contains("withdrawn by"), "\(withdrawn.errors)")
                await scene.expectRefused(process, "was withdrawn by")
            }
            #expect(try await scene.run("actions", "withdraw", scene.job, as: "approver").code == 78)
            let before = try await scene.answers().count
            try await scene.ask(3)
            let refused = try await scene.run("actions", "run", scene.job, "--follow")
            #expect(refused.code == 78 && refused.errors.contains("was withdrawn by"), "\(refused.errors)")
            #expect(try await scene.answers().count == before)

            // A policy that changes is not the one that was approved.
            _ = try await scene.approve(policy, rows: 100)
            try await scene.following { process in
                try scene.change("DECLINE")
                await scene.expectRefused(process, "the policy was changed after its approval: its SHA-256 is now ")
            }
            let doctor = try await scene.run("doctor", scene.job)
            #expect(doctor.code == 78 && doctor.output.contains("the policy was changed"), "\(doctor.output)")
            let changed = try await scene.policy()
            #expect(changed != policy)
            _ = try await scene.approve(policy, rows: 100, code: 65)
            _ = try await scene.approve(changed, rows: 100)
            let healthy = try await scene.run("doctor", scene.job)
            #expect(healthy.code == 0 && healthy.output.contains("policy \(changed) is approved"), "\(healthy.output)")

            // A process that is stopped ends with 0, and at the end of the approval's time with 78.
            try await scene.following { process in
                process.signal(15)
                #expect(await process.wait() == 0, "\(process.errors)")
            }
            try await scene.following { process in
                try await scene.book.change(
                    """
                    UPDATE action_policy_approvals SET approved_at = approved_at - interval '60 days', expires_at = expires_at - interval '60 days'
                    """
                )
                await scene.expectRefused(process, "the approval of the policy expired at ")
            }
            let status = try await scene.run("actions", "status", scene.job)
            #expect(status.output.contains("policy \(changed) approved by"), "\(status.output)")
            #expect(status.output.contains("(by the approval of the policy)"), "\(status.output)")
        }
    }

    @Test func `an answer that Apple rejects is not sent again, and rejections in a row stop all processes`()
        async throws
    {
        try await scene { scene in
            let policy = try await scene.policy()
            _ = try await scene.approve(policy, rows: 100)
            try await scene.stage.store.setFaults(
                #"{"rules": [{"endpoint": "sendConsumptionInformation", "fault": "status", "status": 404, "errorCode": 4040010}]}"#
            )
            let text = try String(contentsOfFile: scene.job, encoding: .utf8)
            try Data((text + "stopAfter: {consecutiveRejections: 3}\n").utf8).write(to: URL(filePath: scene.job))
            try await scene.following { process in
                // One request at a time, so that each batch has few rows.
                for _ in 1...20 where !process.hasEnded {
                    try await scene.ask(1)
                    let rejected = "\(Self.answerable) AND answer_state = 'rejected'"
                    try await poll {
                        try await scene.book.count(rejected) == scene.book.count(Self.answerable) || process.hasEnded
                    }
                }
                #expect(await process.wait() == 76)
                #expect(process.errors.contains("Apple rejected 3 rows in a row"), "\(process.errors)")
            }
            #expect(
                try await scene.book.column(
                    "SELECT concat_ws(' ', count(*), count(DISTINCT subject)) FROM action_rows WHERE state = 'rejected'"
                ) == ["3 3"]
            )
            #expect(try await scene.book.count("SELECT max(attempts) FROM action_rows") == 1)
        }
    }

    @Test func `AI15 AI16 RP19 a withdrawal ends the batches of every approval, also the batch of a killed process`()
        async throws
    {
        try await scene { scene in
            let policy = try await scene.policy()
            _ = try await scene.approve(policy, rows: 100)
            try await scene.ask(20)
            try await scene.following(failpoint: "intentWanted@1=kill") { _ = await $0.wait() }
            #expect(try await scene.book.count("SELECT count(*) FROM action_rows WHERE state = 'approved'") > 0)
            _ = try await scene.approve(policy, rows: 100)
            let withdrawn = try await scene.run("actions", "withdraw", scene.job, as: "approver")
            #expect(withdrawn.code == 0, "\(withdrawn.errors)")
            #expect(try await scene.run("actions", "withdraw", scene.job, as: "approver").code == 78)
            try await scene.endLeases()
            let outcome = try await scene.run("actions", "run", scene.job)
            #expect(
                outcome.code == 78 && outcome.errors.contains("with a newer approval of the job"),
                "\(outcome.errors)"
            )
            #expect(try await scene.answers().isEmpty)
            #expect(
                try await scene.book.column("SELECT DISTINCT state FROM action_rows WHERE verdict = 'valid'") == [
                    "cancelled"
                ]
            )
            // A new approval answers them.
            _ = try await scene.approve(policy, rows: 100)
            try await scene.following { _ in
                let open = try await scene.book.count(Self.answerable)
                try await poll { try await scene.book.count(Self.answered) == open }
            }
            #expect(try await scene.answers().allSatisfy { $0.requested == 1 && $0.applied == 1 })
        }
    }

    @Test func `RP14 RP20 a policy that changes while rows wait for Apple gives each request one answer`() async throws
    {
        try await scene { scene in
            let policy = try await scene.policy()
            _ = try await scene.approve(policy, rows: 100)
            try await scene.ask(20)
            try await scene.stage.store.setFaults(
                #"{"rules": [{"endpoint": "sendConsumptionInformation", "atRequest": 1, "fault": "rateLimited", "retryAfter": ["1"]}]}"#
            )
            try await scene.following(failpoint: "closingCommitted@1=stop") { process in
                try scene.change("DECLINE")
                try await process.resume()
                await scene.expectRefused(process, "the policy was changed after its approval: its SHA-256 is now ")
            }
            // The views do not take the rows for sent ones.
            let waiting =
                "SELECT count(*) FROM consumption_requests WHERE answer_state = 'cancelled' AND answer_sent_at IS NULL"
            #expect(try await scene.book.count(waiting) > 0)
            _ = try await scene.run("actions", "run", scene.job)
            let before = try await scene.preferences()
            let changed = try await scene.policy()
            _ = try await scene.approve(changed, rows: 100)
            try await scene.following { _ in
                let open = try await scene.book.count(Self.answerable)
                try await poll { try await scene.book.count(Self.answered) == open }
            }
            let told = try await scene.preferences()
            #expect(told.values.allSatisfy { $0.count == 1 }, "\(told)")
            #expect(
                told.filter { before[$0.key] == nil }.values.allSatisfy { $0 == ["DECLINE"] }
                    && told.count > before.count
            )
        }
    }

    @Test func `RP21 two processes answer a request once, although the approval is renewed while one of them plans`()
        async throws
    {
        try await scene { scene in
            let policy = try await scene.policy()
            _ = try await scene.approve(policy, rows: 100)
            try await scene.ask(20)
            try await scene.following(failpoint: "batchPlanned@1=stop") { first in
                let renewal = Task { _ = try await scene.approve(policy, rows: 100) }
                try await poll {
                    try await scene.book.count(
                        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
                    ) > 0
                }
                try await scene.following { _ in
                    try await first.resume()
                    try await renewal.value
                    let open = try await scene.book.count(Self.answerable)
                    try await poll { try await scene.book.count(Self.answered) == open }
                }
            }
            let answers = try await scene.answers()
            #expect(!answers.isEmpty && answers.allSatisfy { $0.requested == 1 && $0.applied == 1 }, "\(answers)")
            let twice = """
                SELECT count(*) FROM (SELECT subject FROM action_rows WHERE first_sent_at IS NOT NULL GROUP BY 1 HAVING count(DISTINCT batch_id) > 1) s
                """
            #expect(try await scene.book.count(twice) == 0)
        }
    }
}
