import FoundationEssentials
import TestSupport
import Testing

/// A ledger says whose records it has, and takes no others.
@Suite(.temporaryDatabase)
struct RehearsalTests {
    private struct Status: Decodable {
        struct Run: Decodable {
            let server: String?
            let trustedRoots: [String]?
        }
        let runs: [Run]
    }

    private static func server(of store: SimulatedStore) throws -> String {
        let job = try String(contentsOfFile: store.directory + "/job.yaml", encoding: .utf8)
        let line = try #require(job.split(separator: "\n").first { $0.contains("baseURL:") })
        return line.split(separator: ":", maxSplits: 1)[1].filter { $0 != " " && $0 != "\"" }
    }

    /// Everything in the database that a job could have changed.
    private static func everything(in book: LedgerBook) async throws -> [String] {
        let tables = try await book.column(
            "SELECT relname FROM pg_class WHERE relnamespace = 'appstore'::regnamespace AND relkind = 'r' ORDER BY 1"
        )
        var rows: [String] = []
        for table in tables {
            rows += try await book.column("SELECT '\(table) ' || xmin || ' ' || t FROM \(table) t ORDER BY 1")
        }
        return rows
    }

    @Test func `an app that a rehearsal filled refuses another server's root, before anything is sent or written`()
        async throws
    {
        try await Stage.with(.init(customers: 3)) { stage in
            var job = stage.job
            job.store = job.store.replacing("appStore:", with: "appStore:\n  sandboxFallback: true")
            let path = try await stage.migrated(job)
            let first = try await stage.run(path)
            let own = try Self.server(of: stage.store)
            let sentence = try #require(ChildProcess.lines(of: first.errors).first)
            #expect(
                sentence.hasPrefix("storeledger: Rehearsal: requests go to \(own), records signed under root "),
                "\(sentence)"
            )

            let status = try await stage.storeledger("status", path, "--json")
            let run = try #require(try JSONDecoder().decode(Status.self, from: Data(status.output.utf8)).runs.first)
            let root = try #require(run.trustedRoots?.first)
            #expect(run.server == own && run.trustedRoots?.count == 1 && root.count == 64)
            #expect(sentence.contains(root.prefix(16)))
            let text = try await stage.storeledger("status", path).output
            #expect(text.contains("    rehearsal: \(own), under root \(root.prefix(16))…\n"), "\(text)")

            try await SimulatedStore.serving(.init(seed: 8, customers: 3), in: stage.directory + "/other") { other in
                var strange = job
                strange.name = "production"
                strange.store = JobText(
                    storeJob: try String(contentsOfFile: other.directory + "/job.yaml", encoding: .utf8)
                ).store.replacing("appStore:", with: "appStore:\n  sandboxFallback: true")
                strange.transactionIds = "csv: {path: \(other.directory)/ids.csv, column: transaction_id}"
                let otherPath = other.directory + "/production.yaml"
                try Data(strange.text.utf8).write(to: URL(filePath: otherPath))
                let book = try stage.book()
                let before = try await Self.everything(in: book)

                let doctor = try await stage.storeledger("doctor", otherPath)
                #expect(doctor.code == 78)
                let found = try #require(doctor.output.split(separator: "\n").first { $0.hasPrefix("FAIL") })
                for command in [["run"], ["run", "--restart"], ["retry"], ["replay"], ["replay", "--rejected"]] {
                    let refused = try await stage.withStoreledger([command[0], otherPath] + command.dropFirst()) {
                        let code = await $0.wait()
                        return (code: code, output: $0.output, errors: $0.errors)
                    }
                    #expect(refused.code == 78 && refused.output == "", "\(command): \(refused)")
                    let last = try #require(refused.errors.split(separator: "\n").last)
                    for words in [own, root, try Self.server(of: other), "output.postgres.schema"] {
                        #expect(last.contains(words) && found.contains(words), "\(command): \(last)\n\(found)")
                    }
                }
                #expect(try await other.requests().total == 0)
                expectSame(try await Self.everything(in: book), before)

                // In a separate schema the same job runs.
                strange.schema = "rehearsal"
                try Data(strange.text.utf8).write(to: URL(filePath: otherPath))
                #expect(try await stage.storeledger("migrate", otherPath).code == 0)
                try await stage.run(otherPath)
            }
            // The first job continues as before.
            try await stage.run(path)
        }
    }

    @Test func `the app of the sandbox refuses another root as well, and then nothing is written for production`()
        async throws
    {
        try await Stage.with(.init(customers: 3)) { stage in
            let path = try await stage.migrated(stage.job)
            try await stage.run(path)
            let book = try stage.book()
            // The sandbox's records are of another root: here because this one job tried no sandbox.
            try await book.change(
                "INSERT INTO apps (bundle_id, environment, server, trusted_roots) SELECT bundle_id, 'Sandbox', 'http://127.0.0.1:1', '{ab}' FROM apps"
            )
            try await book.change(
                "INSERT INTO crawl_items (app_id, job, stream, item_key, run_id, state, fingerprint, page_seq) SELECT app_id, 'j', 's', 'k', 1, 'done', 'f', 1 FROM apps WHERE environment = 'Sandbox'"
            )
            var job = stage.job
            job.store = job.store.replacing("appStore:", with: "appStore:\n  sandboxFallback: true")
            let before = try await Self.everything(in: book)
            let refused = try await stage.storeledger("run", try stage.write(job))
            #expect(
                refused.code == 78
                    && refused.errors.contains("(Sandbox) has records of http://127.0.0.1:1 under root ab"),
                "\(refused.errors)"
            )
            expectSame(try await Self.everything(in: book), before)
        }
    }

    @Test(arguments: [
        ["--progress", "plain"], ["--progress", "none"], ["--progress", "json"], ["--log-format", "json"], [],
    ])
    func `a run against loopback says so first, in the requested format`(_ form: [String]) async throws {
        try await Stage.with(.init(customers: 1)) { stage in
            let path = try await stage.migrated(stage.job)
            try await stage.withStoreledger(["run", path] + form) { run in
                #expect(await run.wait() == 0)
                let first = try #require(ChildProcess.lines(of: run.errors).first)
                #expect(
                    first.contains("Rehearsal: requests go to \(try Self.server(of: stage.store)), records"),
                    "\(first)"
                )
                #expect(first.hasPrefix("{") == form.contains("json"))
            }
        }
    }
}
