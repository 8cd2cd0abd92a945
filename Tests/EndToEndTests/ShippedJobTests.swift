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

    @Test(arguments: files)
    func `a shipped job runs as it is`(file: String) async throws {
        try await Stage.with(.init(customers: 5)) { stage in
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
                "STORELEDGER_OUT": stage.directory + "/out",
                "STORELEDGER_DEMO_OUT": stage.directory + "/out",
            ]
            let path = Executables.checkout + "/jobs/" + file
            let migration = try await stage.storeledger("migrate", path, environment: environment)
            #expect(migration.code == 0, "\(migration.errors)")
            let run = try await stage.storeledger("run", path, "--progress", "none", environment: environment)
            #expect(run.code == 0, "\(run.errors)\(run.output)")
            #expect(try await stage.book().count("SELECT pages FROM runs") > 0)
        }
    }
}
