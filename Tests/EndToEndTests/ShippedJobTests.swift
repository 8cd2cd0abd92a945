import FoundationEssentials
import TestSupport
import Testing

/// The files in `jobs`, as they are.
@Suite(.temporaryDatabase, .timeLimit(.minutes(15)))
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

    /// Plans, approves and sends.
    private func send(_ path: String, on stage: Stage, _ environment: [String: String]) async throws {
        // Of a crawled ledger, with refund requests that are open.
        _ = try await stage.store.advance(refundRequests: 4)
        let crawl = Executables.checkout + "/jobs/nightly-sync.yaml"
        let run = try await stage.storeledger("run", crawl, "--progress", "none", environment: environment)
        #expect(run.code == 0, "\(run.errors)")
        let original = try await stage.book().column(
            "SELECT original_transaction_id FROM transactions WHERE in_app_ownership_type = 'PURCHASED' ORDER BY 1 LIMIT 1"
        )
        try stage.write(
            "original_transaction_id,app_account_token\n\(original[0]),7e3fb20b-4cdb-47cc-936d-99d65f608138\n",
            to: "tokens.csv"
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
        try await Stage.with(.init(customers: 8)) { stage in
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
                "APP_ACCOUNT_TOKENS_CSV": stage.store.directory + "/tokens.csv",
                "OUTAGE_START": "2020-01-01T00:00:00Z",
                "OUTAGE_END": "2099-01-01T00:00:00Z",
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
