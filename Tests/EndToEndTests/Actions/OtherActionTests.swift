import FoundationEssentials
import TestSupport
import Testing

/// The actions other than the extension of one subscription.
@Suite(.migratedDatabase)
struct OtherActionTests {
    private func job(_ action: String, limits extra: String = "") -> ActionScene.Job {
        var job = ActionScene.Job()
        job.name = "other"
        job.action = action
        job.limits = """
            {share: 1, windowSeconds: 10, requestsPerSecond: {ENDPOINT: 100000, transactionInfo: 100000\(extra)}}
            """
        return job
    }

    @Test func `app account tokens are set, also when every answer is lost, and the next crawl confirms them`()
        async throws
    {
        try await ActionScene.with(.init(customers: 20)) { scene in
            let ids = try await scene.stage.book().column(
                """
                SELECT DISTINCT original_transaction_id FROM transactions WHERE in_app_ownership_type = 'PURCHASED'
                   AND transaction_id = original_transaction_id ORDER BY 1 LIMIT 4
                """
            )
            let token = "7E3FB20B-4CDB-47CC-936D-99D65F608138"
            try scene.list(
                ids.map { "\($0),\(token)" },
                header: "original_transaction_id,app_account_token"
            )
            let path = try scene.write(job("setAppAccountToken: {}"))
            try await scene.approve(path)
            try await scene.stage.store.setFaults(
                #"""
                {"rules": [{"endpoint": "setAppAccountToken", "transactionId": "\#(ids[0])", "times": 1, "fault": "applyThenDrop"},
                    {"endpoint": "setAppAccountToken", "transactionId": "\#(ids[1])", "times": 1, "fault": "applyThenStatus",
                     "status": 500},
                    {"endpoint": "setAppAccountToken", "transactionId": "\#(ids[1])", "fault": "status", "status": 400,
                     "errorCode": 4000187}]}
                """#
            )
            _ = try await scene.send(path)
            let succeeded = try scene.results("succeeded")
            #expect(succeeded.count == 4)
            #expect(succeeded[2]?["outcome_confirmed_by"]?.hasPrefix("appAccountToken of transaction ") == true)
            try await scene.stage.run(scene.crawl)
            let confirmed =
                "SELECT count(*) FROM actions_confirmed WHERE seen_in LIKE 'appAccountToken of transaction %' AND requested IS NULL"
            #expect(try await scene.stage.book().count(confirmed) == 4)
        }
    }

    @Test func `transactions are finished`() async throws {
        try await ActionScene.with(.init(customers: 10)) { scene in
            let ids = try await scene.stage.book().column("SELECT transaction_id FROM transactions ORDER BY 1 LIMIT 3")
            try scene.list(ids + ["77"], header: "transaction_id")
            let path = try scene.write(job("finishTransaction: {}"))
            try await scene.approve(path)
            _ = try await scene.send(path)
            try scene.expectEveryRowOnce(4)
            #expect(try scene.results("succeeded").count == 3)
        }
    }

    @Test
    func `an extension of all stays unknown while Apple does not report its state, until a SUMMARY notification does`()
        async throws
    {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let book = try scene.stage.book()
            let products = try await book.column(
                """
                SELECT product_id FROM transactions WHERE type = 'Auto-Renewable Subscription' GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1
                """
            )
            try scene.list([products[0], "com.example.no-such-product"], header: "product_id")
            let path = try scene.write(
                job(
                    "extendRenewalDatesForAll: {extendByDays: 3, extendReasonCode: 3}",
                    limits: ", massExtensionStatus: 100000"
                )
            )
            try await scene.approve(path)
            try await scene.stage.store.setFaults(
                #"{"rules": [{"endpoint": "massExtensionStatus", "fault": "status", "status": 404, "errorCode": 4040009, "errorMessage": "Extension request not found."}]}"#
            )
            let outcome = try await scene.send(path, expecting: 2)
            let sentence = """
                Apple does not tell the state of the request. HTTP 404, Apple's code 4040009: Extension request not found. Crawl the \
                app's notifications and run again: Apple's SUMMARY notification tells the outcome too
                """
            #expect(outcome.output.contains("  unknown, row 1: \(sentence)\n"), "\(outcome.output)")
            try scene.expectEveryRowOnce(2)
            #expect(try scene.results("unknown")[1]?["outcome_apple_message"] == sentence)
            #expect(try await scene.applied().map(\.requested) == [1])

            try await book.change(
                """
                INSERT INTO notifications (app_id, notification_uuid, notification_type, subtype, summary_request_identifier,
                    summary_succeeded_count, summary_failed_count, signed_date, payload_sha256, payload)
                SELECT app_id, gen_random_uuid(), 'RENEWAL_EXTENSION', 'SUMMARY', request_id, 40, 2, now(), '', '{}' FROM action_rows
                 WHERE request_id IS NOT NULL
                """
            )
            _ = try await scene.send(path)
            let row = try #require(try scene.results("succeeded")[1])
            #expect(row["outcome_confirmed_by"] == "RENEWAL_EXTENSION notification, SUMMARY", "\(row)")
            #expect(row["outcome_answer"]?.contains("\"succeededCount\": 40") == true, "\(row)")
            #expect(try await scene.applied().map(\.requested) == [1])
        }
    }

    @Test func `the FAILUREs of an extension for all are counted against Apple's counts, and a missing one shows`()
        async throws
    {
        try await ActionScene.with(.init(customers: 120)) { scene in
            let book = try scene.stage.book()
            // Apple does not extend a free trial.
            let product = try await book.column(
                """
                SELECT product_id FROM current_subscriptions WHERE status = 'active' AND NOT is_family_shared
                 GROUP BY 1 HAVING count(*) FILTER (WHERE is_trial) > 0 AND count(*) FILTER (WHERE NOT is_trial) > 0
                 ORDER BY count(*) DESC, 1 LIMIT 1
                """
            )
            try #require(product.count == 1)
            try scene.list([product[0]], header: "product_id")
            let path = try scene.write(
                job(
                    "extendRenewalDatesForAll: {extendByDays: 3, extendReasonCode: 3}",
                    limits: ", massExtensionStatus: 100000"
                )
            )
            try await scene.approve(path)
            _ = try await scene.send(path)
            #expect(try await book.count("SELECT count(*) FROM actions_confirmed WHERE counts_agree IS NULL") == 1)
            try await scene.stage.run(scene.crawl)
            let agreement = """
                SELECT counts_agree || ' ' || (apple_succeeded = summary_succeeded AND summary_succeeded = notified_succeeded) || ' '
                    || (apple_failed = summary_failed AND summary_failed = notified_failed) || ' ' || (apple_failed > 0)
                  FROM actions_confirmed
                """
            #expect(try await book.column(agreement) == ["true true true true"])

            // A notification that no crawl has brought.
            try await book.change(
                """
                DELETE FROM notifications WHERE notification_uuid = (SELECT min(notification_uuid) FROM notifications
                 WHERE notification_type = 'RENEWAL_EXTENSION' AND subtype = 'FAILURE' AND product_id = '\(product[0])'
                   AND signed_date >= (SELECT first_sent_at - interval '5 minutes' FROM action_rows))
                """
            )
            #expect(try await book.column(agreement) == ["false true false true"])
        }
    }

    @Test func `a test notification is requested without input, and its delivery is shown`() async throws {
        try await ActionScene.with(.init(customers: 5)) { scene in
            var job = job("requestTestNotification: {}", limits: ", testNotificationStatus: 100000")
            job.input = nil
            job.approval = "{required: false}"
            let path = try scene.write(job)
            #expect(try await scene.plan(path).rowsToSend == 1)
            _ = try await scene.send(path)
            let row = try #require(try scene.results("succeeded")[1])
            #expect(row["outcome_answer"]?.contains("\"sendAttemptResult\"") == true, "\(row)")
            // Another one is another batch.
            #expect(try await scene.plan(path).rowsToSend == 1)
            _ = try await scene.send(path)
            #expect(try await scene.stage.book().count("SELECT count(*) FROM action_batches") == 2)
        }
    }

    @Test func `an answer about an undelivered purchase has the percentage 0, and none for a subscription that renews`()
        async throws
    {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let book = try scene.stage.book()
            let ids = try await book.column(
                """
                SELECT transaction_id FROM (
                    SELECT transaction_id, type, row_number() OVER (PARTITION BY type ORDER BY transaction_id) AS n FROM transactions
                     WHERE type IN ('Auto-Renewable Subscription', 'Consumable') AND revocation_date IS NULL
                       AND in_app_ownership_type = 'PURCHASED' AND NOT payload ? 'advancedCommerceInfo') t
                 WHERE n <= 2 ORDER BY type, n
                """
            )
            try #require(ids.count == 4)
            try await book.change(
                """
                INSERT INTO notifications (app_id, notification_uuid, notification_type, transaction_id, signed_date, payload_sha256, payload)
                SELECT app_id, gen_random_uuid()::text, 'CONSUMPTION_REQUEST', transaction_id, now() - interval '1 hour', '', '{}'
                  FROM transactions WHERE transaction_id IN ('\(ids.joined(separator: "', '"))')
                """
            )
            try scene.list(
                zip(ids, ["", "GRANT_PRORATED", "", "GRANT_PRORATED"]).map {
                    "\($0),true,UNDELIVERED_OTHER,false,,\($1)"
                },
                header:
                    "transaction_id,customer_consented,delivery_status,sample_content_provided,consumption_percentage,refund_preference"
            )
            let path = try scene.write(job("sendConsumptionInformation: {}"))
            let plan = try await scene.approve(path)
            #expect(plan.rules.contains { $0.rule == "prorated_without_percentage" && $0.rows == 1 })
            _ = try await scene.send(path)
            #expect(try scene.results("succeeded").keys.sorted() == [1, 2, 3])
            let percentages = try await book.column(
                "SELECT coalesce(parameters ->> 'consumption_percentage', 'none') FROM action_rows ORDER BY position"
            )
            #expect(percentages == ["none", "none", "0", "none"])
            let again = try await scene.plan(path)
            #expect(again.rules.contains { $0.rule == "same_as_batch" && $0.rows == 3 })
        }
    }

    @Test func `refund requests are answered in time, in the version that the purchase needs`() async throws {
        try await ActionScene.with(.init(customers: 40)) { scene in
            let book = try scene.stage.book()
            let ids = try await book.column(
                """
                SELECT transaction_id FROM transactions WHERE type = 'Consumable' AND revocation_date IS NULL
                   AND in_app_ownership_type = 'PURCHASED' AND NOT payload ? 'advancedCommerceInfo' ORDER BY 1 LIMIT 5
                """
            )
            try #require(ids.count == 5)
            // The simulator's requests are older than twelve hours, so the test adds its own.
            for (id, age) in [(ids[0], "1 hour"), (ids[1], "1 hour"), (ids[2], "13 hours"), (ids[4], "1 hour")] {
                try await book.change(
                    """
                    INSERT INTO notifications (app_id, notification_uuid, notification_type, transaction_id, signed_date, payload_sha256, payload)
                    SELECT app_id, gen_random_uuid()::text, 'CONSUMPTION_REQUEST', transaction_id, now() - interval '\(age)', '', '{}'
                      FROM transactions WHERE transaction_id = '\(id)'
                    """
                )
            }
            try scene.list(
                [
                    "\(ids[0]),true,DELIVERED,false,50000,GRANT_PRORATED,", "\(ids[1]),false,DELIVERED,false,,,",
                    "\(ids[2]),true,DELIVERED,false,,,", "\(ids[3]),true,DELIVERED,false,,,",
                    "\(ids[1]),true,UNDELIVERED_OTHER,false,100,,", "\(ids[1]),true,0,false,,,1",
                    "\(ids[1]),true,UNDELIVERED_OTHER,false,0,GRANT_FULL,", "\(ids[4]),true,DELIVERED,false,,,",
                ],
                header:
                    "transaction_id,customer_consented,delivery_status,sample_content_provided,consumption_percentage,refund_preference,consumption_status"
            )
            let path = try scene.write(job("sendConsumptionInformation: {}"))
            let plan = try await scene.approve(path)
            #expect(
                plan.requests.first?.body
                    == #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,"consumptionPercentage":50000,"refundPreference":"GRANT_PRORATED"}"#
            )
            let inTime = "send_by BETWEEN now() + interval '10 hours' AND now() + interval '11 hours'"
            #expect(try await book.count("SELECT count(*) FROM action_rows WHERE verdict = 'valid' AND \(inTime)") == 3)
            _ = try await scene.send(path)
            try scene.expectEveryRowOnce(8)
            #expect(try scene.results("succeeded").keys.sorted() == [1, 7, 8])
            let reasons = try scene.results("unprocessed").mapValues { $0["outcome_reason"] ?? "" }
            #expect(
                reasons[2] == "invalid: customer_consented is false; Apple takes no information without consent"
            )
            #expect(reasons[3]?.hasPrefix("ineligible: Apple asked at ") == true, "\(reasons)")
            #expect(reasons[4] == "ineligible: the ledger has no CONSUMPTION_REQUEST for it")
            #expect(
                reasons[5] == "invalid: consumption_percentage must be 0 for an undelivered purchase"
            )
            #expect(reasons[6] == "invalid: account_tenure is missing; version 1 needs all of its columns")
            let again = try await scene.plan(path)
            #expect(again.rowsToSend == 0 && again.rules.contains { $0.rule == "same_as_batch" && $0.rows == 3 })
        }
    }
}
