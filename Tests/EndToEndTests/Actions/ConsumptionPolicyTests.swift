import FoundationEssentials
import TestSupport
import Testing

/// Answers to refund requests by a policy, from the request to Apple's decision.
@Suite(.migratedDatabase)
struct ConsumptionPolicyTests {
    /// 2 is DECLINE.
    private static let versionOne = """
        {accountTenure: 1, consumptionStatus: 2, deliveryStatus: 0, lifetimeDollarsPurchased: 2, lifetimeDollarsRefunded: 1, \
        platform: 1, playTime: 3, refundPreference: 2, sampleContentProvided: false, userStatus: 1}
        """

    private static let rules = """
        - when: {advancedCommerce: true}
          answer: \(versionOne)
        - when: {productTypes: [AUTO_RENEWABLE]}
          answer: {deliveryStatus: DELIVERED, sampleContentProvided: false, refundPreference: DECLINE}
        - when: {productTypes: [NON_CONSUMABLE]}
          answer: none
        - answer: {deliveryStatus: DELIVERED, sampleContentProvided: false, refundPreference: GRANT_FULL}
        """

    static func job(consent: String = "true", rules: String = Self.rules) -> ActionScene.Job {
        var job = ActionScene.Job()
        job.name = "answers"
        job.action = """
            sendConsumptionInformation:
                customerConsented: \(consent)
                policy:
                \(rules.replacing("\n", with: "\n    "))
            """
        job.input = nil
        return job
    }

    private struct Rehearsal: Decodable {
        struct Money: Decodable { let currency: String, requests, milliunits: Int }
        struct Rule: Decodable {
            let rule: Int
            let when, answer: String
            let requests, answered, withoutConsent: Int
            let sortedOut: [String: Int]
            let money: [Money]
            let outcomes: [String: Int]
        }
        let job, policy: String
        let days, requests: Int
        let rules: [Rule]
    }

    private func rehearse(_ scene: ActionScene, _ path: String) async throws -> Rehearsal {
        let outcome = try await scene.stage.storeledger("actions", "rehearse", path, "--json")
        try #require(outcome.code == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(Rehearsal.self, from: Data(outcome.output.utf8))
    }

    @Test
    func `refund requests are rehearsed, planned, approved and answered by the policy, and the view shows both sides`()
        async throws
    {
        try await ActionScene.with(.init(customers: 60)) { scene in
            _ = try await scene.stage.store.advance(refundRequests: 200)
            try await scene.stage.run(scene.crawl)
            let path = try scene.write(Self.job())
            let book = try scene.stage.book()
            let open = "SELECT count(*) FROM consumption_requests WHERE is_open"
            let count = try await book.count(open)
            #expect(count == 200)

            let rehearsal = try await rehearse(scene, path)
            #expect(rehearsal.requests >= count && rehearsal.days == 30 && rehearsal.rules.count == 4)
            #expect(rehearsal.rules.allSatisfy { $0.requests > 0 }, "\(rehearsal)")
            #expect(rehearsal.rules.map(\.answered).prefix(3).last == 0)
            #expect(rehearsal.rules[0].when == "advancedCommerce true" && rehearsal.rules[3].when == "every request")
            #expect(rehearsal.rules.allSatisfy { !$0.money.isEmpty && $0.withoutConsent == 0 && $0.sortedOut.isEmpty })
            #expect(try await book.count("SELECT count(*) FROM action_batches") == 0)
            #expect(try await scene.applied().isEmpty)

            let plan = try await scene.approve(path)
            #expect(plan.rows == count)
            #expect(
                plan.rules.map(\.rule) == ["answer_none"]
                    && plan.rules[0].example == "rule 3 of the policy answers none"
            )
            _ = try await scene.send(path)
            try scene.expectEveryRowOnce(count)
            let sent = try scene.results("succeeded")
            #expect(
                sent.count == plan.rowsToSend && Set(sent.values.compactMap { $0["policy_rule"] }) == ["1", "2", "4"]
            )
            #expect(try scene.results("unprocessed").values.allSatisfy { $0["policy_rule"] == "3" })
            let applied = try await scene.applied()
            #expect(applied.count == plan.rowsToSend && applied.allSatisfy { $0.applied == 1 })
            let versionOne = applied.filter { $0.endpoint == "sendConsumptionInformationV1" }
            #expect(versionOne.count == sent.values.count { $0["policy_rule"] == "1" } && !versionOne.isEmpty)

            let answers = """
                SELECT DISTINCT concat_ws(' ', answer_policy_rule, answer_state, answer_delivery_status, answer_refund_preference,
                       answer_job, outcome) FROM consumption_requests WHERE is_open ORDER BY 1
                """
            #expect(
                try await book.column(answers) == [
                    "1 succeeded 0 2 answers pending", "2 succeeded DELIVERED DECLINE answers pending",
                    "4 succeeded DELIVERED GRANT_FULL answers pending", "pending",
                ]
            )
            let again = try await scene.plan(path)
            #expect(again.rowsToSend == 0 && again.rules.map(\.rule) == ["answer_none"])

            // Apple decides, and the next crawl brings the decisions.
            _ = try await scene.stage.store.advance(changes: 1)
            try await scene.stage.run(scene.crawl)
            let decisions = """
                SELECT DISTINCT answer_policy_rule || ' ' || outcome FROM consumption_requests WHERE answer_state = 'succeeded' ORDER BY 1
                """
            #expect(try await book.column(decisions) == ["1 declined", "2 declined", "4 refunded"])
            #expect(
                try await book.count("SELECT confirmed FROM actions_by_batch WHERE succeeded > 0") == plan.rowsToSend
            )
            let after = try await rehearse(scene, path)
            #expect(after.requests == rehearsal.requests)
            #expect(
                after.rules[3].outcomes["refunded", default: 0] > rehearsal.rules[3].outcomes["refunded", default: 0]
            )
            #expect(
                after.rules[1].outcomes["declined", default: 0] > rehearsal.rules[1].outcomes["declined", default: 0]
            )

            let text = try await scene.stage.storeledger("actions", "rehearse", path, "--days", "1")
            #expect(text.output.contains("of the last 1 day; nothing was sent or stored"), "\(text.output)")
            #expect(text.output.contains("  rule 4, every request: "), "\(text.output)")
            #expect(text.output.contains("    Apple's decisions so far: "), "\(text.output)")
        }
    }

    @Test(arguments: ["csv", "query"])
    func `RP17 a consent that is withdrawn after the plan is not sent as given, also not again after a kill`(
        source: String
    ) async throws {
        try await ActionScene.with(.init(customers: 40)) { scene in
            _ = try await scene.stage.store.advance(refundRequests: 30)
            try await scene.stage.run(scene.crawl)
            let book = try scene.stage.book()
            try await book.change(
                "CREATE TABLE public.consents AS SELECT DISTINCT transaction_id FROM consumption_requests WHERE is_open"
            )
            func consent(except withdrawn: [String]) async throws {
                let list = withdrawn.map { "'\($0)'" }.joined(separator: ", ")
                if !withdrawn.isEmpty {
                    try await book.change("DELETE FROM public.consents WHERE transaction_id IN (\(list))")
                }
                let ids = try await book.column("SELECT transaction_id FROM public.consents")
                try scene.stage.write((["transaction_id"] + ids).joined(separator: "\n") + "\n", to: "consents.csv")
            }
            try await consent(except: [])
            let path = try scene.write(
                Self.job(
                    consent: source == "csv"
                        ? "{csv: {path: consents.csv, column: transaction_id}}"
                        : "{query: SELECT transaction_id FROM public.consents}"
                )
            )
            let plan = try await scene.approve(path)
            #expect(try await scene.kill(path, at: "intentCommitted@1"))
            try await scene.endLeases()
            let interrupted = try await book.column("SELECT subject FROM action_rows WHERE state = 'sending'")
            let waiting = try await book.column(
                "SELECT subject FROM action_rows WHERE state = 'approved' AND attempts = 0 ORDER BY position LIMIT 1"
            )
            try #require(!interrupted.isEmpty && waiting.count == 1)
            try await consent(except: interrupted + waiting)
            _ = try await scene.send(path, expecting: 2)
            try scene.expectEveryRowOnce(plan.rows)
            let unknown = try scene.results("unknown").values
            #expect(Set(unknown.compactMap { $0["transaction_id"] }) == Set(interrupted))
            #expect(
                unknown.allSatisfy {
                    $0["outcome_apple_message"] == "not sent again: the customer does not consent any more"
                },
                "\(unknown)"
            )
            let cancelled = try scene.results("unprocessed").values.filter { $0["outcome"] == "cancelled" }
            #expect(cancelled.compactMap { $0["transaction_id"] } == waiting)
            #expect(
                cancelled.allSatisfy { $0["outcome_reason"] == "not sent: the customer does not consent any more" },
                "\(cancelled)"
            )
            let sent = Set(try await scene.applied().compactMap(\.transactionId))
            #expect(sent.isDisjoint(with: waiting))
            #expect(sent.subtracting(interrupted).count == plan.rowsToSend - 1 - interrupted.count)
        }
    }

    @Test func `repeats of a request are one request, and earlier refunds count as of its time`() async throws {
        try await ActionScene.with(.init(customers: 20)) { scene in
            let book = try scene.stage.book()
            let ids = try await book.column(
                """
                SELECT unnest((array_agg(transaction_id ORDER BY transaction_id))[1:3]) FROM (
                    SELECT app_transaction_id, transaction_id, count(*) OVER (PARTITION BY app_transaction_id) AS purchases FROM transactions
                     WHERE app_transaction_id IS NOT NULL AND in_app_ownership_type = 'PURCHASED' AND NOT payload ? 'advancedCommerceInfo') t
                 WHERE purchases >= 3 GROUP BY app_transaction_id ORDER BY app_transaction_id LIMIT 3
                """
            )
            try #require(ids.count >= 3)
            try await book.change(
                "DELETE FROM notifications WHERE notification_type IN ('CONSUMPTION_REQUEST', 'REFUND', 'REFUND_DECLINED')"
            )
            try await book.change(
                """
                UPDATE transactions SET revocation_date = NULL, revocation_type = NULL
                 WHERE app_transaction_id = (SELECT app_transaction_id FROM transactions WHERE transaction_id = '\(ids[0])')
                """
            )
            for (type, hours) in [
                ("CONSUMPTION_REQUEST", 20), ("CONSUMPTION_REQUEST", 19), ("REFUND_DECLINED", 18),
                ("CONSUMPTION_REQUEST", 2),
                ("CONSUMPTION_REQUEST", 1),
            ] {
                try await book.change(
                    """
                    INSERT INTO notifications (app_id, notification_uuid, notification_type, transaction_id, signed_date, payload_sha256, payload)
                    SELECT app_id, gen_random_uuid()::text, '\(type)', transaction_id, now() - interval '\(hours) hours', '', '{}'
                      FROM transactions WHERE transaction_id = '\(ids[0])'
                    """
                )
            }
            for (id, hours) in [(ids[1], 30), (ids[2], 10)] {
                try await book.change(
                    "UPDATE transactions SET revocation_date = now() - interval '\(hours) hours' WHERE transaction_id = '\(id)'"
                )
            }
            let answer = "{deliveryStatus: DELIVERED, sampleContentProvided: false}"
            let rules = """
                - when: {earlierRefundsAtLeast: 2}
                  answer: \(answer)
                - when: {earlierRefundsAtLeast: 1}
                  answer: none
                - answer: none
                """
            let path = try scene.write(Self.job(rules: rules))
            let rehearsal = try await rehearse(scene, path)
            #expect(rehearsal.rules.map(\.requests) == [1, 1, 0], "\(rehearsal)")
            #expect(rehearsal.rules[0].outcomes["pending"] == 1 && rehearsal.rules[1].outcomes["declined"] == 1)

            // A rejected answer leaves the request open: for retry, and for the next plan.
            try await scene.stage.store.setFaults(
                #"{"rules": [{"endpoint": "sendConsumptionInformation", "fault": "status", "status": 404, "errorCode": 4040010}]}"#
            )
            let first = try await scene.approve(path)
            _ = try await scene.send(path, expecting: 2)
            #expect(
                try await book.column(
                    "SELECT answer_state || answer_apple_code FROM consumption_requests WHERE is_open"
                )
                    == ["rejected4040010", "rejected4040010"]
            )
            #expect(try await scene.retry(path).rowsToSend == 1)
            try await scene.stage.store.setFaults(#"{"rules": []}"#)
            let second = try await scene.approve(path)
            #expect(second.batch == first.batch && second.rowsToSend == 1)
            _ = try await scene.send(path)
            let newest = try await book.column(
                "SELECT DISTINCT answer_state || ' ' || answer_policy_rule || ' ' || is_open FROM consumption_requests WHERE requested_at > now() - interval '3 hours'"
            )
            #expect(newest == ["succeeded 1 true"])
            #expect(try scene.results("succeeded").count == 1)
            // The answer does not belong to the request before Apple's decision.
            #expect(try await book.count("SELECT count(*) FROM consumption_requests WHERE answer_state IS NULL") == 2)
        }
    }

    @Test func `RP9 without an open request, plan says so and plans nothing`() async throws {
        try await ActionScene.with(.init(customers: 5)) { scene in
            try await scene.stage.book().change(
                "DELETE FROM notifications WHERE notification_type = 'CONSUMPTION_REQUEST'"
            )
            let path = try scene.write(Self.job())
            let outcome = try await scene.stage.storeledger("actions", "plan", path)
            #expect(outcome.code == 0 && outcome.output.isEmpty)
            #expect(
                outcome.errorLines == [
                    "storeledger: every refund request has an answer or a decision, or is older than twelve hours, so answers has nothing to plan"
                ]
            )
            #expect(try await scene.stage.book().count("SELECT count(*) FROM action_batches") == 0)
        }
    }

    @Test func `RP2 RP10 only customers who have consented are answered, by a file or by a query`() async throws {
        try await ActionScene.with(.init(customers: 40)) { scene in
            _ = try await scene.stage.store.advance(refundRequests: 12)
            try await scene.stage.run(scene.crawl)
            let book = try scene.stage.book()
            let ids = try await book.column("SELECT transaction_id FROM consumption_requests WHERE is_open ORDER BY 1")
            try #require(ids.count == 12)
            let rules = "- answer: {deliveryStatus: DELIVERED, sampleContentProvided: false}"
            func plan(_ consent: String) async throws -> (path: String, Stage.Outcome) {
                let path = try scene.write(Self.job(consent: consent, rules: rules))
                return (path, try await scene.stage.storeledger("actions", "plan", path, "--json"))
            }
            let file = scene.stage.store.directory + "/consents.csv"
            let csv = "{csv: {path: consents.csv, column: transaction_id}}"
            var outcome = try await plan(csv).1
            #expect(outcome.code == 66)
            #expect(outcome.errorLines == ["storeledger: \(file): there is no such file. Nothing was planned"])
            try scene.stage.write("app_account_token\n1\n", to: "consents.csv")
            outcome = try await plan(csv).1
            #expect(outcome.code == 65)
            #expect(
                outcome.errorLines == [
                    "storeledger: \(file): there is no column \"transaction_id\"; the header has \"app_account_token\". Nothing was planned"
                ]
            )
            outcome = try await plan("{query: SELECT 1 AS customer}").1
            #expect(outcome.code == 65)
            #expect(
                outcome.errorLines == [
                    "storeledger: customerConsented.query must have one column, named app_account_token, app_transaction_id, original_transaction_id or transaction_id; it has \"customer\". Nothing was planned"
                ]
            )
            outcome = try await plan("{query: SELECT nothing}").1
            #expect(outcome.code == 65)
            #expect(
                outcome.errors.contains(
                    "PostgreSQL does not accept customerConsented.query: column \"nothing\" does not exist"
                )
            )

            try scene.stage.write("note,transaction_id\nx, \(ids[0]) \ny,\(ids[1])\nz,77\n", to: "consents.csv")
            let path = try await plan(csv).path
            let rehearsal = try await rehearse(scene, path)
            #expect(rehearsal.rules[0].withoutConsent >= 10, "\(rehearsal)")
            // Purchases with Advanced Commerce among the two need version 1.
            let planned = try await scene.plan(path)
            let consent = try #require(planned.rules.first { $0.rule == "customer_consented" })
            #expect(consent.rows == 10 && consent.verdict == "invalid")
            #expect(consent.example == "customer_consented is false; Apple takes no information without consent")
            let query =
                "{query: \"SELECT transaction_id FROM appstore.transactions WHERE transaction_id IN ('\(ids[0])', '\(ids[1])')\"}"
            #expect(try await scene.plan(try await plan(query).path).batch == planned.batch)
        }
    }

    @Test func `RP11 an answer whose version does not fit the purchase is sorted out, in the rehearsal too`()
        async throws
    {
        try await ActionScene.with(.init(customers: 60)) { scene in
            _ = try await scene.stage.store.advance(refundRequests: 200)
            try await scene.stage.run(scene.crawl)
            let rules = "- answer: {deliveryStatus: DELIVERED, sampleContentProvided: false, consumptionPercentage: 0}"
            let path = try scene.write(Self.job(rules: rules))
            let rehearsal = try await rehearse(scene, path)
            let plan = try await scene.plan(path)
            let found = Dictionary(uniqueKeysWithValues: plan.rules.map { ($0.rule, $0.rows) })
            #expect(Set(found.keys) == ["advanced_commerce", "percentage_of_subscription"], "\(plan.rules)")
            for (rule, rows) in found { #expect(rehearsal.rules[0].sortedOut[rule, default: 0] >= rows, "\(rule)") }

            // Only a subscription that renews gets a prorated refund without a percentage.
            let prorated = "{deliveryStatus: DELIVERED, sampleContentProvided: false, refundPreference: GRANT_PRORATED}"
            let planned = try await scene.plan(try scene.write(Self.job(rules: "- answer: \(prorated)")))
            #expect(Set(planned.rules.map(\.rule)) == ["advanced_commerce", "prorated_without_percentage"])
            #expect(
                try await scene.stage.book().column(
                    """
                    SELECT DISTINCT t.type FROM action_rows r JOIN transactions t ON t.transaction_id = r.subject
                      JOIN action_batches b USING (batch_id) WHERE b.rows_sha256 = '\(planned.batch)' AND r.verdict = 'valid'
                    """
                ) == ["Auto-Renewable Subscription"]
            )
        }
    }

    @Test func `RP12 a job without a policy cannot be rehearsed, and the days have a range`() async throws {
        try await ActionScene.with(.init(customers: 5)) { scene in
            let path = try scene.write()
            let none = try await scene.stage.storeledger("actions", "rehearse", path)
            #expect(none.code == 78)
            #expect(
                none.errorLines == [
                    "storeledger: extend-after-outage has no policy; only sendConsumptionInformation takes one (action.sendConsumptionInformation.policy)"
                ]
            )
            for days in ["0", "3651"] {
                let outcome = try await scene.stage.storeledger("actions", "rehearse", path, "--days", days)
                #expect(outcome.code == 64 && outcome.errors.contains("--days must be from 1 to 3650, not \(days)"))
            }
        }
    }

    @Test
    func `a purchase with Advanced Commerce is answered in version 1 from a file, with its token, and Apple decides`()
        async throws
    {
        try await ActionScene.with(.init(customers: 60)) { scene in
            _ = try await scene.stage.store.advance(refundRequests: 200)
            try await scene.stage.run(scene.crawl)
            let book = try scene.stage.book()
            let ids = try await book.column(
                """
                SELECT t.transaction_id FROM consumption_requests r JOIN transactions t USING (app_id, transaction_id)
                 WHERE r.is_open AND t.payload ? 'advancedCommerceInfo' ORDER BY 1 LIMIT 2
                """
            )
            try #require(ids.count == 2)
            let token = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
            try scene.list(
                ["\(ids[0]),true,0,false,2,0,\(token),1,2,1,1,3,1", "\(ids[1]),true,0,false,1,0,,1,2,1,1,3,1"],
                header:
                    "transaction_id,customer_consented,delivery_status,sample_content_provided,refund_preference,account_tenure,app_account_token,consumption_status,lifetime_dollars_purchased,lifetime_dollars_refunded,platform,play_time,user_status"
            )
            var job = Self.job()
            job.name = "version-one"
            job.action = "sendConsumptionInformation: {}"
            job.input = "csv: {path: affected.csv}"
            let path = try scene.write(job)
            let plan = try await scene.approve(path)
            #expect(plan.requests.map(\.path) == ids.map { "/inApps/v1/transactions/consumption/\($0)" })
            #expect(
                plan.requests[0].body
                    == #"{"accountTenure":0,"appAccountToken":"\#(token)","consumptionStatus":1,"customerConsented":true,"deliveryStatus":0,"lifetimeDollarsPurchased":2,"lifetimeDollarsRefunded":1,"platform":1,"playTime":3,"refundPreference":2,"sampleContentProvided":false,"userStatus":1}"#
            )
            #expect(plan.requests[1].body.contains(#""appAccountToken":"""#))
            _ = try await scene.send(path)
            #expect(try scene.results("succeeded").count == 2)
            #expect(
                try await scene.applied().allSatisfy {
                    $0.endpoint == "sendConsumptionInformationV1" && $0.applied == 1
                }
            )
            _ = try await scene.stage.store.advance(changes: 1)
            try await scene.stage.run(scene.crawl)
            #expect(
                try await book.column(
                    """
                    SELECT answer_refund_preference || ' ' || outcome FROM consumption_requests
                     WHERE answer_state = 'succeeded' ORDER BY transaction_id
                    """
                ) == ["2 declined", "1 refunded"]
            )
        }
    }
}
