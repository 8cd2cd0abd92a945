import FoundationEssentials
import TestSupport
import Testing

/// The files in `jobs`, as they are.
@Suite(.migratedDatabase, .startsEarly)
struct ShippedJobTests {
    static let files: [String] = {
        let names = try? FileManager.default.contentsOfDirectory(atPath: Executables.checkout + "/jobs")
        return (names ?? []).filter { $0.hasSuffix(".yaml") }.sorted()  // none is what the next test finds out
    }()

    @Test func `there are jobs to try`() {
        #expect(Self.files.count >= 4)
    }

    /// Whether a file has an action.
    private static func isAction(_ file: String) throws -> Bool {
        try String(contentsOfFile: Executables.checkout + "/jobs/" + file, encoding: .utf8).contains("\naction:")
    }

    /// Whether a job needs subscriptions with Advanced Commerce, of which a small store has none that can be changed.
    private static func isCampaign(_ path: String) -> Bool {
        ["price-change-cohort.yaml", "migrate-to-advanced-commerce.yaml"].contains(where: path.hasSuffix)
    }

    /// What the campaigns of Advanced Commerce name, for a subscription of the crawled ledger that each of them can change.
    private func campaign(_ stage: Stage) async throws -> [String: String] {
        let book = try stage.book()
        let item = try await book.column(
            """
            SELECT i.sku || ' ' || r.currency || ' ' || i.price_milliunits - 10
              FROM renewals r JOIN advanced_commerce_items i ON i.app_id = r.app_id AND i.owner_kind = 'renewal'
               AND i.owner_key = r.original_transaction_id AND i.offer_reason IS NULL AND i.price_increase_status IS NULL
             WHERE r.auto_renew_status = 1 AND r.renewal_date > now() + interval '2 days' ORDER BY 1 LIMIT 1
            """
        )
        let words = try #require(item.first).split(separator: " ").map(String.init)
        let product = try await book.column(
            """
            SELECT c.product_id FROM current_subscriptions c JOIN renewals r USING (app_id, original_transaction_id)
             WHERE c.status = 'active' AND NOT c.is_family_shared AND r.advanced_commerce_request_reference_id IS NULL
               AND r.auto_renew_product_id = r.product_id AND r.price_increase_status IS NULL ORDER BY 1 LIMIT 1
            """
        )
        return [
            "PRICE_SKU": words[0], "PRICE_CURRENCY": words[1], "PRICE_MILLIUNITS": words[2],
            "MIGRATE_PRODUCT_ID": try #require(product.first),
        ]
    }

    /// Plans, approves and sends.
    private func send(_ path: String, on stage: Stage, _ settings: [String: String]) async throws {
        var environment = settings
        // Of a crawled ledger, with refund requests that are open.
        _ = try await stage.store.advance(refundRequests: 4)
        let crawl = Executables.checkout + "/jobs/nightly-sync.yaml"
        let run = try await stage.storeledger("run", crawl, "--progress", "none", environment: environment)
        #expect(run.code == 0, "\(run.errors)")
        if Self.isCampaign(path) {
            let statuses = Executables.checkout + "/jobs/subscription-statuses.yaml"
            let run = try await stage.storeledger("run", statuses, "--progress", "none", environment: environment)
            #expect(run.code == 0, "\(run.errors)")
            environment.merge(try await campaign(stage)) { $1 }
        }
        let original = try await stage.book().column(
            "SELECT original_transaction_id FROM transactions WHERE in_app_ownership_type = 'PURCHASED' ORDER BY 1 LIMIT 1"
        )
        try stage.write(
            "original_transaction_id,app_account_token\n\(original[0]),7e3fb20b-4cdb-47cc-936d-99d65f608138\n",
            to: "tokens.csv"
        )
        let purchases = try await stage.book().column("SELECT external_purchase_id FROM external_purchase_tokens")
        try stage.write(
            "external_purchase_id,status\n" + purchases.map { "\($0),NO_LINE_ITEM\n" }.joined(),
            to: "external-purchases.csv"
        )
        let tokens = try await stage.book().column(
            "SELECT app_account_token::text FROM transactions WHERE app_account_token IS NOT NULL"
        )
        try stage.write(
            (["app_account_token"] + tokens).joined(separator: "\n") + "\n",
            to: "consents.csv"
        )
        let planned = try await stage.storeledger("actions", "plan", path, "--json", environment: environment)
        #expect(planned.code == 0, "\(planned.errors)")
        let plan = try JSONDecoder().decode(ActionScene.Plan.self, from: Data(planned.output.utf8))
        #expect(plan.rowsToSend > 0, "\(planned.output)")
        let approval = ["--batch", plan.batch, "--rows", "\(plan.rowsToSend)"]
        for arguments in [["approve", path] + approval, ["run", path]] {
            try await stage.withStoreledger(["actions"] + arguments, environment: environment) { process in
                #expect(await process.wait() == 0, "\(process.errors)\(process.output)")
            }
        }
        let book = try stage.book()
        #expect(try await book.count("SELECT count(*) FROM action_rows WHERE state = 'succeeded'") == plan.rowsToSend)
    }

    @Test(arguments: files)
    func `a shipped job runs as it is`(file: String) async throws {
        var options = SimulatedStore.Options(customers: Self.isCampaign(file) ? 60 : 8)
        // With Apple's limits, a run looks at a review once a minute.
        options.arguments = ["--review-requests", "0"]
        try await Stage.with(options) { stage in
            let settings = Dictionary(
                stage.job.store.split(separator: "\n").compactMap { line -> (String, String)? in
                    let words = line.split(separator: ":", maxSplits: 1).map { $0.trimmingPrefix(while: { $0 == " " }) }
                    return words.count == 2 ? (String(words[0]), String(words[1])) : nil
                },
                uniquingKeysWith: { $1 }
            )
            func setting(_ name: String) throws -> String { try #require(settings[name]) }
            let ids = try String(contentsOfFile: stage.store.directory + "/ids.csv", encoding: .utf8)
            let orders = try String(contentsOfFile: stage.store.directory + "/orders.csv", encoding: .utf8)
            let environment = [
                "APPSTORE_BUNDLE_ID": try setting("bundleId"),
                "APPSTORE_APP_APPLE_ID": try setting("appAppleId"),
                "APPSTORE_ISSUER_ID": try setting("issuerId"),
                "APPSTORE_KEY_ID": try setting("keyId"),
                "APPSTORE_PRIVATE_KEY_FILE": stage.store.directory + "/" + (try setting("privateKeyFile")),
                "APPSTORE_BASE_URL": try setting("baseURL"),
                "APPSTORE_TRUSTED_ROOT": stage.store.directory + "/root.cer",
                "TRANSACTION_IDS_CSV": stage.store.directory + "/ids.csv",
                "ORDER_IDS_CSV": stage.store.directory + "/orders.csv",
                "ORDER_ID": String(orders.split(separator: "\n")[1]),
                "TRANSACTION_ID": String(ids.split(separator: "\n")[1]),
                "CONSENTS_CSV": stage.store.directory + "/consents.csv",
                "EXTERNAL_PURCHASES_CSV": stage.store.directory + "/external-purchases.csv",
                "APP_ACCOUNT_TOKENS_CSV": stage.store.directory + "/tokens.csv",
                "OUTAGE_START": "2020-01-01T00:00:00Z",
                "OUTAGE_END": "2099-01-01T00:00:00Z",
                "PRICE_SKU": "shelf-1", "PRICE_CURRENCY": "USD", "PRICE_MILLIUNITS": "9990",
                "MIGRATE_PRODUCT_ID": "com.example.game.plus.monthly", "MIGRATE_SKU": "plus", "MIGRATE_NAME": "Plus",
                "MIGRATE_DESCRIPTION": "Plus", "TARGET_PRODUCT_ID": "com.example.game.ac.subscription",
                "TAX_CODE": "C003-00-2",
                "STORELEDGER_OUT": stage.directory + "/out",
                "STORELEDGER_DEMO_OUT": stage.directory + "/out",
            ]
            let path = Executables.checkout + "/jobs/" + file
            let migration = try await stage.storeledger("migrate", path, environment: environment)
            #expect(migration.code == 0, "\(migration.errors)")
            if try Self.isAction(file) { return try await send(path, on: stage, environment) }
            let run = try await stage.storeledger("run", path, "--progress", "none", environment: environment)
            #expect(run.code == 0, "\(run.errors)\(run.output)")
            #expect(try await stage.book().count("SELECT pages FROM runs") > 0)
        }
    }
}
