import FoundationEssentials
import Postgres
import TestSupport
import Testing

/// Campaigns with the shipped jobs, from the plan to what the crawl, the views and the report show.
@Suite(.migratedDatabase)
struct CampaignTests {
    /// One of the shipped jobs, on a stage.
    private struct Campaign {
        let scene: ActionScene
        let path: String
        var environment: [String: String]

        /// The job `jobs/name.yaml` with its own variables, whose call gets no limit of a real key.
        init(_ name: String, endpoint: String, _ scene: ActionScene, _ environment: [String: String]) throws {
            let store = scene.stage.job.store
            let shipped = try String(contentsOfFile: Executables.checkout + "/jobs/\(name).yaml", encoding: .utf8)
            let action = try #require(shipped.firstRange(of: "\naction:"))
            let limits = try #require(shipped.firstRange(of: "\nlimits:"))
            let text = """
                version: 1
                name: \(name)
                \(store)\(shipped[action.lowerBound..<limits.lowerBound])
                limits: {share: 1, windowSeconds: 10, requestsPerSecond: {\(endpoint): 100000, subscriptionStatuses: 100000}}
                output:
                  postgres: {url: "${DATABASE_URL}"}
                  results: {directory: out}

                """
            path = try scene.stage.write(text, to: "\(name).yaml")
            let bundle = try #require(store.split(separator: "\n").first { $0.contains("bundleId") })
            let bundleId = try #require(bundle.split(separator: ":").last).trimmingPrefix { $0 == " " }.description
            self.scene = scene
            self.environment = environment.merging(["APPSTORE_BUNDLE_ID": bundleId]) { $1 }
        }

        func actions(_ arguments: String...) async throws -> Stage.Outcome {
            try await scene.stage.withStoreledger(["actions"] + arguments, environment: environment) { process in
                let code = await process.wait()
                return Stage.Outcome(code: code, output: process.output, errors: process.errors)
            }
        }

        struct Plan: Decodable {
            struct Consent: Decodable { let required, notRequired, unknown: Int }
            let batch: String
            let rows, rowsToSend: Int
            let consent: Consent?
        }

        /// Plans and approves.
        func approve() async throws -> Plan {
            let planned = try await actions("plan", path, "--json")
            try #require(planned.code == 0, "\(planned.errors)")
            let plan = try JSONDecoder().decode(Plan.self, from: Data(planned.output.utf8))
            let approved = try await actions("approve", path, "--batch", plan.batch, "--rows", "\(plan.rowsToSend)")
            try #require(approved.code == 0, "\(approved.errors)")
            return plan
        }

        /// Runs `actions run` until it kills itself with SIGKILL at a crash point.
        func kill(at point: String) async throws -> Bool {
            var variables = environment
            variables["DATABASE_URL"] = scene.stage.databaseURL()
            variables["STORELEDGER_FAILPOINT"] = "\(point)=kill"
            return try await withChildProcess(
                Executables.failpoints,
                ["actions", "run", path],
                environment: variables
            ) { process in
                await process.wait()
                return process.errors.contains("failpoint ")
            }
        }
    }

    /// A scene with 500 subscribers of one item and other customers, whose ledger also has the renewal info.
    private func with(_ body: (ActionScene) async throws -> Void) async throws {
        var options = SimulatedStore.Options(customers: 150, transactionsPerCustomer: 6)
        options.arguments = ["--advanced-commerce-subscribers", "500"]
        try await Stage.with(options) { stage in
            var job = stage.job
            job.streams = [
                "transactionHistory: {}", "subscriptionStatuses: {}",
                "notificationHistory: {scope: app, startDate: -2d}",
            ]
            job.limits = """
                {concurrency: 8, share: 1, requestsPerSecond: {transactionHistory: 100000, subscriptionStatuses: 100000,
                   notificationHistory: 100000}}
                """
            let crawl = try stage.write(job)
            try await stage.run(crawl)
            try await body(ActionScene(stage: stage, crawl: crawl))
        }
    }

    /// The funnel of one cohort.
    private struct Funnel: Equatable {
        let planned, sent, communicated, accepted, renewed, lost, expired, undecided: Int

        static let columns = "planned, sent, communicated, accepted, renewed, lost, expired, undecided"

        init(_ row: String) throws {
            let numbers = row.split(separator: " ").compactMap { Int($0) }
            try #require(numbers.count == 8)
            (planned, sent, communicated, accepted) = (numbers[0], numbers[1], numbers[2], numbers[3])
            (renewed, lost, expired, undecided) = (numbers[4], numbers[5], numbers[6], numbers[7])
        }
    }

    /// The funnel of each cohort, the first one first.
    private func funnels(_ book: LedgerBook) async throws -> [Funnel] {
        try await book.column(
            "SELECT concat_ws(' ', \(Funnel.columns)) FROM price_changes_by_batch WHERE sent > 0 ORDER BY planned_at"
        ).map { try Funnel($0) }
    }

    @Test
    func `two cohorts of 500 subscriptions get a new price over a kill, and a migration says what remains and why`()
        async throws
    {
        try await with { scene in
            let (stage, book) = (scene.stage, try scene.stage.book())
            var campaign = try Campaign(
                "price-change-cohort",
                endpoint: "changeSubscriptionPrice",
                scene,
                [
                    "PRICE_SKU": "shelf-1", "PRICE_CURRENCY": "USD", "PRICE_MILLIUNITS": "25980", "COHORT_SIZE": "250",
                    "COHORT_DAYS": "35", "MAXIMUM_CHURN": "0.08",
                ]
            )

            // The first cohort is killed in the middle, and continued.
            let first = try await campaign.approve()
            #expect(first.rows == 250 && first.rowsToSend > 240)
            #expect(first.consent?.required == first.rowsToSend)
            #expect(try await campaign.kill(at: "writeAnswered@100"))
            try await scene.endLeases()
            let sent = try await campaign.actions("run", campaign.path)
            #expect(sent.code == 0, "\(sent.errors)")
            try scene.expectEveryRowOnce(first.rows)
            #expect(try scene.results("succeeded").count == first.rowsToSend)
            let applied = try await scene.applied()
            #expect(applied.count == first.rowsToSend && applied.allSatisfy { $0.applied == 1 })

            // The second cohort waits for the days, and after the renewals for the churn.
            let young = try await campaign.actions("plan", campaign.path)
            #expect(young.code == 65 && young.errors.contains("less than 35 days ago"), "\(young.errors)")
            try await stage.store.advance(renewals: 500)
            try await stage.run(scene.crawl)
            let funnel = try #require(try await funnels(book).first)
            #expect(funnel.planned == first.rowsToSend && funnel.sent == first.rowsToSend)
            #expect(funnel.communicated == funnel.sent && funnel.renewed + funnel.lost == funnel.sent)
            #expect(funnel.accepted == funnel.renewed && funnel.expired == funnel.lost && funnel.undecided == 0)
            #expect(funnel.lost * 100 > 8 * funnel.sent && funnel.lost * 2 < funnel.sent, "\(funnel)")
            campaign.environment["COHORT_DAYS"] = "0"
            let lossy = try await campaign.actions("plan", campaign.path)
            #expect(lossy.code == 65 && lossy.errors.contains("of the last cohort was lost"), "\(lossy.errors)")

            campaign.environment["MAXIMUM_CHURN"] = "0.5"
            let second = try await campaign.approve()
            #expect(second.rowsToSend > 200)
            #expect(try await campaign.actions("run", campaign.path).code == 0)
            try await stage.store.advance(renewals: 500)

            // Apple has informed one subscriber of a price increase, and refuses one row. Later customers subscribe.
            let product = try #require(
                try await book.column(
                    """
                    SELECT c.product_id FROM current_subscriptions c JOIN renewals r USING (app_id, original_transaction_id)
                     WHERE c.status = 'active' AND NOT c.is_family_shared AND r.advanced_commerce_request_reference_id IS NULL
                     GROUP BY 1 HAVING bool_or(r.price_increase_status IS NOT NULL) AND count(*) >= 3 ORDER BY count(*) DESC, 1 LIMIT 1
                    """
                ).first
            )
            let migration = try Campaign(
                "migrate-to-advanced-commerce",
                endpoint: "migrateSubscription",
                scene,
                [
                    "MIGRATE_PRODUCT_ID": product, "TARGET_PRODUCT_ID": "com.example.game.ac.subscription",
                    "TAX_CODE": "C003-00-1", "MIGRATE_SKU": "plus", "MIGRATE_NAME": "Plus",
                    "MIGRATE_DESCRIPTION": "Plus",
                ]
            )
            let planned = try await migration.approve()
            #expect(planned.rowsToSend >= 2 && planned.rowsToSend < planned.rows)
            try await stage.store.setFaults(
                """
                {"rules": [{"endpoint": "migrateSubscription", "times": 1, "fault": "status", "status": 403,
                    "errorCode": 4030025}]}
                """
            )
            #expect(try await migration.actions("run", migration.path).code == 2)
            _ = try await stage.store.advance(changes: 20)
            try await stage.run(scene.crawl)

            let cohorts = try await funnels(book)
            #expect(cohorts.count == 2 && cohorts[0] == funnel)
            #expect(cohorts[1].renewed > 0 && cohorts[1].renewed + cohorts[1].lost == second.rowsToSend)
            let reasons = try await book.column(
                "SELECT DISTINCT concat_ws(' ', reason, rule) FROM unmigrated_subscriptions ORDER BY 1"
            )
            #expect(
                reasons == [
                    "never planned", "rejected", "sorted out price_increase_communicated",
                    "subscribed since the last plan",
                ]
            )
            #expect(
                try await book.column(
                    "SELECT concat_ws(' ', apple_code, subscriptions) FROM unmigrated_subscriptions_by_reason WHERE reason = 'rejected'"
                ) == ["4030025 1"]
            )
            // What was migrated, and what remains of the product, is all of it.
            #expect(
                try await book.count(
                    "SELECT count(*) FROM unmigrated_subscriptions WHERE product_id = '\(product)' AND batch IS NOT NULL"
                ) == planned.rows - (planned.rowsToSend - 1)
            )

            let page = stage.directory + "/report.html"
            try #require(try await stage.storeledger("report", scene.crawl, "--output", page).code == 0)
            let report = try WrittenPage(page)
            #expect(report.table("price-changes").count == 2)
            #expect(report.table("unmigrated-subscriptions").contains { $0[0] == product && $0[2] == "4030025" })
        }
    }
}
