import FoundationEssentials
import TestSupport
import Testing

/// One process for several apps.
@Suite(.migratedDatabase)
struct FleetTests {
    private static let apps = ["com.example.game", "com.example.puzzle", "com.example.words"]

    /// How an app ended, in `run --json` and in a notification.
    private struct Ended: Decodable {
        let app: String
        let exitCode: Int
    }

    private struct Notification: Decodable {
        let outcome: String
        let exitCode: Int
        let apps: [Ended]
    }

    /// A stage whose store has three apps, with a list of IDs for each.
    private func withFleet(_ body: (Stage, JobText) async throws -> Void) async throws {
        var options = SimulatedStore.Options()
        options.arguments = Self.apps.flatMap { ["--bundle-id", $0] }
        try await Stage.with(options) { stage in
            var store = stage.job.store
            let environment = try #require(store.split(separator: "\n").first { $0.contains("environment:") })
            let appStore = try #require(store.firstRange(of: "appStore:"))
            var entries: [String] = []
            try FileManager.default.createDirectory(
                atPath: stage.store.directory + "/ids",
                withIntermediateDirectories: true
            )
            for (place, app) in Self.apps.enumerated() {
                entries.append("  - {bundleId: \(app), appAppleId: \(1_234_567_890 + place)}")
                let own = stage.store.directory + (place == 0 ? "" : "/" + app) + "/ids.csv"
                try FileManager.default.copyItem(atPath: own, toPath: stage.store.directory + "/ids/\(app).csv")
            }
            store =
                "apps:\n" + entries.joined(separator: "\n") + "\n" + environment.drop { $0 == " " } + "\n"
                + store[appStore.lowerBound...]
            var job = stage.job
            job.store = store
            job.transactionIds = "csv: {path: \"ids/{bundleId}.csv\", column: transaction_id}"
            job.csv = "{directory: \"out/{bundleId}\", tables: [transactions, refunds]}"
            try await body(stage, job)
        }
    }

    private func header(of file: String) throws -> Substring {
        try #require(String(contentsOfFile: file, encoding: .utf8).split(separator: "\r\n").first)
    }

    @Test func `each app has its run, files and metrics; the views are refreshed once`() async throws {
        try await withFleet { stage, job in
            let path = try await stage.migrated(job)
            #expect(try await stage.storeledger("validate", path).output.split(separator: "\n").count == 3)
            let own = "\(stage.store.directory)/\(Self.apps[1])/job.yaml"
            #expect(try await stage.storeledger("validate", own).code == 0)
            let metrics = stage.directory + "/fleet.prom"
            let outcome = try await stage.storeledger("run", path, "--metrics-file", metrics, "--progress", "plain")
            #expect(outcome.code == 0, "\(outcome.errors)")
            let book = try stage.book()
            #expect(try await book.count("SELECT count(*) FROM runs WHERE exit_code = 0") == 3)
            let text = try String(contentsOfFile: metrics, encoding: .utf8)
            for app in Self.apps {
                #expect(outcome.output.contains("nightly of \(app): run "))
                #expect(outcome.errors.contains("\(app): starting run "), "\(outcome.errors)")
                #expect(text.contains("storeledger_run_exit_code{app=\"\(app)\""))
                let exits = text.split(separator: "\n").filter { $0.hasPrefix("storeledger_last_exit_code{") }
                #expect(exits.count == 3 && exits.contains { $0.contains("app=\"\(app)\"") && $0.hasSuffix(" 0") })
                let directory = stage.store.directory + "/out/" + app
                for table in ["transactions", "refunds"] {
                    let names = try header(of: "\(directory)/\(table).csv").split(separator: ",")
                    #expect(names.contains("bundle_id") && names.contains("environment"), "\(names)")
                }
            }
            let one = try await stage.storeledger("run", path, "--app", Self.apps[1], "--metrics-file", metrics)
            #expect(one.code == 0, "\(one.errors)")
            let after = try String(contentsOfFile: metrics, encoding: .utf8).split(separator: "\n")
            for metric in ["storeledger_last_exit_code", "storeledger_run_exit_code"] {
                #expect(after.count { $0.hasPrefix("# TYPE \(metric) ") } == 1)
                let samples = after.filter { $0.hasPrefix("\(metric){") }
                #expect(samples.count == 3)
                for app in Self.apps { #expect(samples.contains { $0.contains("app=\"\(app)\"") }) }
            }
            #expect(outcome.output.contains("3 apps: 3 with exit code 0"))
            #expect(outcome.errors.split(separator: "\n").count { $0.contains("bringing the views up to date") } == 1)

            // What reads a job does so for each app, or says that it needs one.
            for command in ["plan", "status", "coverage", "export", "replay", "failures", "doctor"] {
                let each = try await stage.storeledger(command, path)
                #expect(each.code == 0, "\(command): \(each.errors)")
                for app in Self.apps { #expect(each.output.contains(app), "\(command): \(each.output)") }
                let one = try await stage.storeledger(command, path, "--app", Self.apps[1])
                #expect(one.code == 0 && !one.output.contains(Self.apps[0]), "\(command): \(one.errors)")
            }
            let erase = try await stage.storeledger("erase", path, "--yes", "--transaction-id", "1")
            #expect(erase.code == 64 && erase.errors.contains("--app"), "FL8 \(erase.errors)")
            let page = stage.directory + "/report.html"
            #expect(try await stage.storeledger("report", path, "--output", page).code == 0)
        }
    }

    @Test func `without a job, coverage and export answer for every app`() async throws {
        try await withFleet { stage, job in
            let path = try await stage.migrated(job)
            try await stage.run(path)
            let coverage = try await stage.storeledger("coverage")
            for app in Self.apps { #expect(coverage.output.contains("nightly: \(app) (Production)")) }
            let directory = stage.directory + "/all"
            for format in ["csv", "parquet"] {
                let export = try await stage.storeledger(
                    "export",
                    "--all-apps",
                    "--directory",
                    directory + format,
                    "--tables",
                    "transactions,renewals",
                    "--format",
                    format
                )
                #expect(export.code == 0, "\(export.errors)")
            }
            let rows = try String(contentsOfFile: directory + "csv/transactions.csv", encoding: .utf8)
            for app in Self.apps { #expect(rows.contains(app)) }
            let count = try await stage.book().count("SELECT count(*) FROM transactions")
            #expect(rows.split(separator: "\r\n").count == count + 1)
        }
    }

    @Test func `FL6 one app with a wrong Apple ID and one without a list fail, and the other runs`() async throws {
        try await withFleet { stage, job in
            var job = job
            let path = try await stage.migrated(job)
            try await stage.run(path)
            job.store = job.store.replacing("appAppleId: 1234567891", with: "appAppleId: 99")
            try FileManager.default.removeItem(atPath: stage.store.directory + "/ids/\(Self.apps[2]).csv")
            try stage.write(job)
            let outcome = try await stage.storeledger("run", path, "--json")
            #expect(outcome.code == 78, "\(outcome.errors)")
            #expect(outcome.errors.contains("storeledger: \(Self.apps[1]): "), "\(outcome.errors)")
            let documents = try JSONDecoder().decode([Ended].self, from: Data(outcome.output.utf8))
            #expect(documents.map(\.app) == Self.apps)
            #expect(documents.map(\.exitCode) == [0, 78, 66])
            let one = try await stage.storeledger("run", path, "--app", Self.apps[0], "--progress", "none")
            #expect(one.code == 0 && !one.output.contains("apps:"), "\(one.errors)")
            let none = try await stage.storeledger("run", path, "--app", "com.example.other")
            #expect(none.code == 64 && none.errors.contains(Self.apps[0]), "FL8 \(none.errors)")
            // An app of two files.
            job.name = "other"
            let twice = try await stage.storeledger("run", path, try stage.write(job))
            #expect(twice.code == 65 && twice.errors.contains("name each app once"), "FL4 \(twice.errors)")
        }
    }

    @Test func `FL7 many apps share few sessions`() async throws {
        try await withFleet { stage, job in
            let path = try await stage.migrated(job)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let book = try stage.book()
            let sessions = """
                SELECT count(*) FROM pg_stat_activity
                 WHERE datname = current_database() AND application_name LIKE 'storeledger run%'
                """
            for connections in [3, 5] {
                let few = text.replacing("schema: appstore}", with: "schema: appstore, connections: \(connections)}")
                let file = try stage.write(few, to: "few.yaml")
                try await stage.withStoreledger(["run", file, "--restart", "--progress", "none"]) { process in
                    var most = 0
                    try await poll {
                        most = max(most, try await book.count(sessions))
                        return process.hasEnded
                    }
                    #expect(await process.wait() == 0, "\(process.errors)")
                    #expect((1...connections).contains(most))
                }
            }
        }
    }

    @Test func `a failing app is in the one notification of all`() async throws {
        try await withFleet { stage, job in
            var job = job
            let server = try WebhookServer()
            defer { server.stop() }
            job.notify = "{url: \"http://127.0.0.1:\(server.port)/hook\", on: [failure, success]}"
            let path = try await stage.migrated(job)
            try await stage.run(path)
            try FileManager.default.removeItem(atPath: stage.store.directory + "/ids/\(Self.apps[2]).csv")
            try await stage.run(path, expecting: 66)
            let documents = try server.requests.map { request in
                try JSONDecoder().decode(Notification.self, from: Data(request.body.utf8))
            }
            try #require(documents.count == 2)
            #expect(documents.map(\.outcome) == ["success", "failure"])
            #expect(documents.map(\.exitCode) == [0, 66])
            #expect(documents[1].apps.map(\.exitCode) == [0, 0, 66])
        }
    }
}
