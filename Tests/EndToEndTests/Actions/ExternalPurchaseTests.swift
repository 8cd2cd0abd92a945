import FoundationEssentials
import TestSupport
import Testing

/// Reports of external purchases, from the tokens in notifications to the views.
@Suite(.migratedDatabase)
struct ExternalPurchaseTests {
    private static let header = """
        external_purchase_id,status,line_item_id,creation_date,event_type,product_type,product_identifier,quantity,\
        amount_tax_inclusive,amount_tax_exclusive,tax_amount,net_amount_tax_exclusive,reporting_currency,pricing_currency,\
        tax_country,reference_line_item_id,restatement
        """
    private static let job: ActionScene.Job = {
        var job = ActionScene.Job()
        job.name = "report"
        job.action = "reportExternalPurchases: {}"
        job.limits = """
            {share: 1, concurrency: 2, windowSeconds: 10, requestsPerSecond: {ENDPOINT: 100000, externalPurchaseReport: 100000}}
            """
        return job
    }()

    /// The rows of one token: two purchases of 10.00 and a refund of 2.00, without tax.
    private func lines(_ token: String, _ date: String) -> [String] {
        let id = token.suffix(6)
        func buy(_ name: String) -> String {
            "\(token),LINE_ITEM,\(id)-\(name),\(date),BUY,ONE_TIME_BUY,coins,1,12000,10000,2000,10000,EUR,EUR,FRA,,"
        }
        let refund = "\(token),LINE_ITEM,\(id)-c,\(date),REFUND,,,,2400,2000,400,8000,EUR,EUR,FRA,\(id)-a,"
        return [buy("a"), buy("b"), refund]
    }

    @Test
    func `EP14 EP15 a month of external purchases is reported once, despite a kill and lost answers, and corrected`()
        async throws
    {
        try await ActionScene.with(.init(customers: 6)) { scene in
            try await scene.stage.store.advance(externalPurchaseTokens: 12)
            try await scene.stage.run(scene.crawl)
            let book = try scene.stage.book()
            func tokens(_ condition: String) async throws -> [String] {
                try await book.column(
                    "SELECT external_purchase_id FROM external_purchase_tokens WHERE \(condition) ORDER BY 1"
                )
            }
            let used = try await tokens("created_at < now() - interval '10 days'")
            let unused = try await tokens("created_at >= now() - interval '1 hour'")
            try #require(used.count == 6 && unused.count == 6)
            let date = try await book.column(
                "SELECT to_char((now() - interval '9 days') AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
            )[0]
            // Apple does not know the purchase of this refund.
            var wrong = lines(used[5], date)
            wrong[2] = wrong[2].replacing(",\(used[5].suffix(6))-a,", with: ",nowhere,")
            let rows =
                used.prefix(5).flatMap { lines($0, date) } + wrong
                + unused.map { "\($0),NO_LINE_ITEM" + String(repeating: ",", count: 15) }
            try scene.list(rows, header: Self.header)
            let path = try scene.write(Self.job)
            let plan = try await scene.approve(path)
            #expect(plan.rows == 12 && plan.rowsToSend == 12)

            #expect(try await scene.kill(path, at: "writeAnswered@3"))
            try await scene.endLeases()
            try await scene.stage.store.setFaults(
                #"""
                {"rules": [{"endpoint": "reportExternalPurchases", "atRequest": 2, "fault": "applyThenDrop"},
                    {"endpoint": "reportExternalPurchases", "atRequest": 4, "fault": "dropConnection"},
                    {"endpoint": "reportExternalPurchases", "atRequest": 6, "fault": "applyThenStatus", "status": 500},
                    {"endpoint": "externalPurchaseReport", "atRequest": 1, "fault": "status", "status": 500}]}
                """#
            )
            _ = try await scene.send(path, expecting: 2)
            try scene.expectEveryRowOnce(24)
            let rejected = try scene.results("rejected")
            #expect(rejected.keys.sorted() == [16, 17, 18])
            #expect(rejected[18]?["outcome_apple_code"] == "3")
            #expect(
                rejected[16]?["outcome_reason"]?.hasPrefix("Apple refused the report because of other lines: ") == true
            )
            let applied = try await scene.applied().filter { $0.endpoint == "reportExternalPurchases" }
            #expect(applied.count == 11 && applied.allSatisfy { $0.applied == 1 && $0.requested == 1 })
            #expect(try await book.count("SELECT count(*) FROM action_rows WHERE confirmed_by LIKE 'report %'") >= 2)
            let sums =
                "SELECT event_type || ' ' || lines || ' ' || amount_tax_exclusive FROM external_purchases_by_month ORDER BY 1"
            #expect(try await book.column(sums) == ["BUY 10 100.000", "REFUND 5 10.000"])
            #expect(try await tokens("state = 'UNREPORTED'") == [used[5]])

            // One line was wrong.
            let corrected =
                lines(used[0], date)[1].replacing("12000,10000,2000,10000", with: "6000,5000,1000,5000") + "true"
            try scene.list([corrected], header: Self.header)
            try await scene.approve(path)
            _ = try await scene.send(path)
            #expect(try await book.column(sums) == ["BUY 10 95.000", "REFUND 5 10.000"])
            // What Apple has already is not sent again.
            #expect(try await scene.plan(path).rowsToSend == 0)

            // A corrected report has the ID of the refused one.
            try scene.list(lines(used[5], date), header: Self.header)
            try await scene.approve(path)
            _ = try await scene.send(path)
            #expect(try await tokens("state = 'UNREPORTED'") == [])
            let ids = "count(DISTINCT request_id) || ' of ' || count(request_id)"
            let ofToken = "SELECT \(ids) FROM action_rows WHERE subject = '\(used[5])'"
            #expect(try await book.column(ofToken) == ["1 of 2"])
        }
    }

    @Test func `AI15 EP20 a report that Apple does not have is not sent after a withdrawal`() async throws {
        try await ActionScene.with(.init(customers: 6)) { scene in
            try await scene.stage.store.advance(externalPurchaseTokens: 1)
            try await scene.stage.run(scene.crawl)
            let book = try scene.stage.book()
            let token = try await book.column("SELECT external_purchase_id FROM external_purchase_tokens LIMIT 1")
            try scene.list(["\(token[0]),NO_LINE_ITEM" + String(repeating: ",", count: 15)], header: Self.header)
            let path = try scene.write(Self.job)
            try await scene.approve(path)
            // The process dies after it has recorded the request and before it sends it.
            #expect(try await scene.kill(path, at: "intentCommitted@1"))
            #expect(try await book.column("SELECT may_be_applied FROM action_rows") == ["true"])
            #expect(try await scene.stage.storeledger("actions", "withdraw", path).code == 0)
            try await scene.endLeases()
            _ = try await scene.send(path, expecting: 78)
            #expect(try await scene.applied().allSatisfy { $0.endpoint != "reportExternalPurchases" })
            #expect(try await book.column("SELECT state FROM action_rows") == ["not_applied"])
        }
    }
}
