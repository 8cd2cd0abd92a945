import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Files in object storage, on a server that checks signatures.
@Suite(
    .migratedDatabase,
    .enabled(Comment(rawValue: BucketServer.missing)) { await BucketServer.isInstalled() }
)
struct BucketTests {
    private static let files = ["manifest.json", "notifications.parquet", "refunds.parquet", "transactions.parquet"]

    private func withBucket(
        _ options: SimulatedStore.Options = .init(customers: 6),
        _ body: (Stage, BucketServer) async throws -> Void
    ) async throws {
        try await Stage.with(options) { stage in
            try await BucketServer.with(stage) { server in try await body(stage, server) }
        }
    }

    private func job(_ stage: Stage, _ parquet: String = "{directory: \"s3://ledger-bucket/apps/game\"}") -> JobText {
        var job = stage.job
        job.parquet = parquet
        return job
    }

    @Test func `a bucket gets the same files as a folder, with keys of the owner and with temporary ones`() async throws
    {
        try await withBucket { stage, server in
            var job = job(stage)
            job.csv = "{directory: \"s3://ledger-bucket/csv/\", tables: [transactions]}"
            let path = try await stage.migrated(job)
            let loader = try server.client("loader")
            let doctor = try await stage.storeledger("doctor", path, environment: loader)
            #expect(
                doctor.code == 0 && doctor.output.contains("s3://ledger-bucket/apps/game can be written"),
                "\(doctor)"
            )
            let run = try await stage.storeledger("run", path, "--progress", "none", environment: loader)
            #expect(
                run.code == 0 && run.output.contains("s3://ledger-bucket/apps/game: "),
                "\(run.errors)\(run.output)"
            )
            let again = try await stage.storeledger(
                "export",
                path,
                "--format",
                "parquet",
                environment: try server.client()
            )
            #expect(again.code == 0, "\(again.errors)")

            let fetched = try await server.fetch("apps/game")
            #expect(fetched.names == Self.files && fetched.uploads == 0)
            let csv = try await server.fetch("csv")
            #expect(csv.names == ["manifest.json", "transactions.csv"])
            let folder = stage.directory + "/folder"
            let local = try await stage.storeledger(
                "export",
                "--app",
                "com.example.game",
                "--directory",
                folder,
                "--format",
                "parquet",
                "--tables",
                "transactions,refunds,notifications"
            )
            #expect(local.code == 0, "\(local.errors)")
            for name in Self.files.dropFirst() {
                let bytes = FileManager.default.contents(atPath: "\(folder)/\(name)")
                #expect(
                    bytes != nil && bytes == FileManager.default.contents(atPath: "\(fetched.folder)/\(name)"),
                    "\(name)"
                )
            }
            let rows = try await stage.book().count("SELECT count(*) FROM transactions")
            if await PythonScript.canImport("duckdb", "pyarrow.fs") {
                let counts = try await PythonScript.run(
                    "ObjectStorage/count.py",
                    server.folder,
                    "apps/game/transactions.parquet"
                )
                let found = counts.split(separator: "\n").compactMap { Int($0) }
                #expect(found.count >= 1 && found.allSatisfy { $0 == rows }, "\(counts)")
            }
        }
    }

    @Test(.slow) func `a table of several parts is uploaded part by part, and is whole`() async throws {
        try await withBucket(.init(customers: 100, transactionsPerCustomer: 200)) { stage, server in
            var job = job(stage, "{directory: s3://ledger-bucket/large, tables: [transactions]}")
            job.streams = ["transactionHistory: {}"]
            job.csv = "{directory: s3://ledger-bucket/large-csv, tables: [transactions]}"
            let path = try await stage.migrated(job)
            let run = try await stage.storeledger("run", path, "--progress", "none", environment: try server.client())
            #expect(run.code == 0, "\(run.errors)")
            #expect(try server.requests().contains { $0.hasPrefix("PUT") && $0.contains("partNumber=2") })
            #expect(try await server.fetch("large-csv").names == ["manifest.json", "transactions.csv"])
        }
    }

    @Test(arguments: [
        // The publication before stays while files are uploaded.
        (#"[{"method": "PUT", "part": "partNumber=", "skip": 1, "hang": true}]"#, files),
        // Whole files without a manifest, when one of them is complete.
        (#"[{"method": "POST", "part": "uploadId=", "skip": 1, "hang": true}]"#, Array(files.dropFirst())),
    ])
    func `OS10 a publication that is killed leaves whole files, and the next start ends it`(
        fault: String,
        left: [String]
    ) async throws {
        try await withBucket { stage, server in
            let path = try await stage.migrated(job(stage))
            let owner = try server.client()
            let first = try await stage.storeledger("run", path, "--progress", "none", environment: owner)
            #expect(first.code == 0, "\(first.errors)")
            _ = try await stage.store.advance(changes: 20)
            try server.setFaults(fault)
            try await stage.withStoreledger(["run", path, "--progress", "none"], environment: owner) { process in
                try await poll { try server.requests().contains("hanging") || process.hasEnded }
                process.signal(SIGKILL)
                await process.wait()
            }
            try server.setFaults("[]")
            let after = try await server.fetch("apps/game")
            #expect(after.names == left && after.uploads > 0, "\(after)")

            let next = try await stage.storeledger("run", path, "--progress", "none", environment: owner)
            #expect(next.code == 0, "\(next.errors)")
            let whole = try await server.fetch("apps/game")
            #expect(whole.names == Self.files && whole.uploads == 0, "\(whole)")
            #expect(try await stage.book().count("SELECT count(*) FROM runs WHERE finished_at IS NULL") == 0)
        }
    }

    @Test(
        .enabled("python3, pyarrow or duckdb is not installed; .ci/run installs them if it can") {
            await PythonScript.canImport("duckdb", "pyarrow")
        }
    )
    func `OS10 the parts of several nights in a bucket, one of them killed, are a full export`() async throws {
        try await withBucket(.init(customers: 10)) { stage, server in
            let tables = "[transactions, refunds, notifications]"
            let place = "{directory: s3://ledger-bucket/changes, changes: true, tables: \(tables)}"
            let path = try await stage.migrated(job(stage, place))
            let owner = try server.client()
            for night in 0..<3 {
                if night == 1 {
                    try server.setFaults(#"[{"method": "POST", "part": "_manifest.json?uploadId=", "hang": true}]"#)
                    try await stage.withStoreledger(["run", path, "--progress", "none"], environment: owner) {
                        process in
                        try await poll { try server.requests().contains("hanging") || process.hasEnded }
                        process.signal(SIGKILL)
                        await process.wait()
                    }
                    try server.setFaults("[]")
                }
                let run = try await stage.storeledger("run", path, "--progress", "none", environment: owner)
                #expect(run.code == 0, "\(run.errors)")
                _ = try await stage.store.advance(changes: 20)
            }
            let fetched = try await server.fetch("changes")
            let whole = stage.directory + "/whole"
            let local = try await stage.storeledger(
                "export",
                "--app",
                "com.example.game",
                "--directory",
                whole,
                "--format",
                "parquet",
                "--tables",
                "transactions,refunds,notifications"
            )
            #expect(local.code == 0, "\(local.errors)")
            let figures = try await PythonScript.run("ParquetReaders/apply_parts.py", fetched.folder, whole)
            #expect(figures.hasPrefix("3 ") || figures.hasPrefix("2 "), "\(figures)")
            // Files of the killed publication are gone.
            let manifest = try String(contentsOfFile: fetched.folder + "/_manifest.json", encoding: .utf8)
            #expect(
                fetched.names.allSatisfy { $0 == "_manifest.json" || manifest.contains($0) } && fetched.uploads == 0
            )
        }
    }

    @Test func `OS10 of two publishers at the same time, the later one publishes, and the other says so`() async throws
    {
        try await withBucket { stage, server in
            let path = try await stage.migrated(job(stage))
            let owner = try server.client()
            let run = try await stage.storeledger("run", path, "--progress", "none", environment: owner)
            #expect(run.code == 0, "\(run.errors)")
            try server.setFaults(#"[{"method": "PUT", "part": "partNumber=", "skip": 1, "times": 1, "hold": true}]"#)
            try await stage.withStoreledger(["export", path], environment: owner) { earlier in
                try await poll { try server.requests().contains("hanging") || earlier.hasEnded }
                let later = try await stage.storeledger("export", path, environment: owner)
                #expect(later.code == 0, "\(later.errors)")
                try server.setFaults("[]")
                #expect(
                    await earlier.wait() == 73 && earlier.errors.contains("another process is publishing"),
                    "\(earlier.errors)"
                )
            }
            let fetched = try await server.fetch("apps/game")
            #expect(fetched.names == Self.files && fetched.uploads == 0, "\(fetched)")
        }
    }

    @Test func `OS10 a publisher of changes that wakes up late removes no part of the one that took over`() async throws
    {
        try await withBucket { stage, server in
            let tables = "[transactions, refunds, notifications]"
            let place = "{directory: s3://ledger-bucket/changes, changes: true, tables: \(tables)}"
            let path = try await stage.migrated(job(stage, place))
            let owner = try server.client()
            try await stage.storeledger("run", path, "--progress", "none", environment: owner).expect(0)
            _ = try await stage.store.advance(changes: 20)
            // The earlier publisher knows the first part, and lists the files that are not in it.
            try server.setFaults(#"[{"method": "GET", "part": "list-type=2", "times": 1, "hold": true}]"#)
            try await stage.withStoreledger(["export", path], environment: owner) { earlier in
                try await poll { try server.requests().contains("hanging") || earlier.hasEnded }
                let later = try await stage.storeledger("run", path, "--progress", "none", environment: owner)
                #expect(later.code == 0, "\(later.errors)")
                try server.setFaults("[]")
                #expect(
                    await earlier.wait() == 73 && earlier.errors.contains("another process is publishing"),
                    "\(earlier.errors)"
                )
            }
            // Every file of the manifest is there.
            let fetched = try await server.fetch("changes")
            #expect(fetched.names.contains { $0.hasSuffix("part-2-2.parquet") } && fetched.uploads == 0, "\(fetched)")
            let next = try await stage.storeledger("export", path, environment: owner)
            #expect(next.code == 0 && next.output.contains("no changes since the last part"), "\(next)")
        }
    }

    @Test func `OS10 two machines that end a run at the same time do not end each other's publication again and again`()
        async throws
    {
        try await withBucket { stage, server in
            let path = try await stage.migrated(job(stage))
            let owner = try server.client()
            // Both begin before one sees the other, and each request takes as long as the way to a distant bucket.
            let begins = #"{"method": "POST", "part": "manifest.json?uploads", "times": 2, "hold": true}"#
            try server.setFaults("[\(begins)]")
            try await stage.withStoreledger(["run", path], environment: owner) { one in
                try await stage.withStoreledger(["run", path], environment: owner) { other in
                    try await poll {
                        try server.requests().count { $0 == "hanging" } >= 2 || one.hasEnded || other.hasEnded
                    }
                    try server.setFaults(#"[{"delay": 0.3}]"#)
                    #expect(await one.wait() == 0, "\(one.errors)")
                    #expect(await other.wait() == 0, "\(other.errors)")
                }
            }
            try server.setFaults("[]")
            let requests = try server.requests()
            let begun = requests.count { $0.hasPrefix("POST") && $0.hasSuffix("manifest.json?uploads=") }
            #expect(2...5 ~= begun, "\(requests)")
            let fetched = try await server.fetch("apps/game")
            #expect(fetched.names == Self.files && fetched.uploads == 0, "\(fetched)")
        }
    }

    /// A publication that fails: what the server does, with which credentials, and what the command says.
    struct Refusal: Sendable {
        let name: String
        var bucket = "ledger-bucket"
        var client = "owner"
        var changes: [String: String] = [:]
        var faults = "[]"
        let code: Int32
        let says: [String]
    }

    private static func answer(_ status: Int, _ code: String, region: String? = nil) -> String {
        #"[{"status": \#(status), "code": "\#(code)"\#(region.map { #", "region": "\#($0)""# } ?? "")}]"#
    }

    private static let refusals = [
        Refusal(name: "OS1 no bucket", bucket: "other-bucket", code: 78, says: ["there is no bucket other-bucket"]),
        Refusal(name: "OS2 no right", client: "stranger", code: 77, says: ["refuses s3:PutObject", "AccessDenied"]),
        Refusal(
            name: "OS2 wrong secret",
            changes: ["AWS_SECRET_ACCESS_KEY": "not-the-secret-key"],
            code: 77,
            says: ["SignatureDoesNotMatch", "check AWS_ACCESS_KEY_ID"]
        ),
        Refusal(
            name: "OS2 unknown key",
            changes: ["AWS_ACCESS_KEY_ID": "AKIAUNKNOWN"],
            code: 77,
            says: ["InvalidAccessKeyId"]
        ),
        Refusal(
            name: "OS4 no credentials",
            changes: ["AWS_SECRET_ACCESS_KEY": ""],
            code: 78,
            says: ["AWS_SECRET_ACCESS_KEY is missing"]
        ),
        Refusal(
            name: "OS4 no region",
            changes: ["AWS_REGION": "", "AWS_ENDPOINT_URL_S3": ""],
            code: 78,
            says: ["needs AWS_REGION"]
        ),
        Refusal(name: "OS5 expired", faults: answer(400, "ExpiredToken"), code: 77, says: ["have expired"]),
        Refusal(
            name: "OS5 another token",
            client: "loader",
            changes: ["AWS_SESSION_TOKEN": "another-session-token"],
            code: 77,
            says: ["InvalidToken"]
        ),
        Refusal(
            name: "OS6 moved",
            faults: answer(301, "PermanentRedirect", region: "eu-central-1"),
            code: 78,
            says: ["set AWS_REGION=eu-central-1"]
        ),
        Refusal(
            name: "OS6 malformed",
            faults: answer(400, "AuthorizationHeaderMalformed", region: "ap-south-1"),
            code: 78,
            says: ["set AWS_REGION=ap-south-1"]
        ),
        Refusal(
            name: "OS7 a web page",
            faults: #"[{"status": 200, "body": "<html>Welcome</html>"}]"#,
            code: 78,
            says: ["does not answer as S3 does"]
        ),
        Refusal(
            name: "OS7 no URL",
            changes: ["AWS_ENDPOINT_URL_S3": "storage.example.com"],
            code: 78,
            says: ["AWS_ENDPOINT_URL_S3 is not an endpoint"]
        ),
        Refusal(
            name: "OS7 plain HTTP",
            changes: ["AWS_ENDPOINT_URL_S3": "http://storage.example.com"],
            code: 78,
            says: ["plain http"]
        ),
        Refusal(
            name: "OS9 out of order",
            faults: answer(503, "SlowDown"),
            code: 75,
            says: ["does not work at present", "the next run publishes it"]
        ),
        Refusal(
            name: "OS9 no server at the endpoint",
            changes: ["AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9"],
            code: 75,
            says: ["cannot be reached at 127.0.0.1:9"]
        ),
    ]

    @Test func `OS1 OS2 OS4 OS5 OS6 OS7 OS9 a bucket that cannot be used is explained in one line without a secret`()
        async throws
    {
        try await withBucket(.init(customers: 1)) { stage, server in
            var job = stage.job
            let path = try await stage.migrated(job)
            try await stage.run(path)
            for refusal in Self.refusals {
                try server.setFaults(refusal.faults)
                job.parquet = "{directory: \"s3://\(refusal.bucket)/files\"}"
                let path = try stage.write(job)
                var client = try server.client(refusal.client, refusal.changes)
                for (name, value) in client where value.isEmpty { client[name] = nil }
                let export = try await stage.storeledger("export", path, environment: client)
                #expect(export.code == refusal.code, "\(refusal.name): \(export)")
                #expect(export.errorLines.count == 1 && export.output.isEmpty, "\(refusal.name): \(export)")
                #expect(refusal.says.allSatisfy(export.errors.contains), "\(refusal.name): \(export.errors)")
                if refusal.code != 75 {
                    let doctor = try await stage.storeledger("doctor", path, environment: client)
                    #expect(doctor.code == refusal.code, "\(refusal.name): \(doctor)")
                    #expect(refusal.says.allSatisfy(doctor.output.contains), "\(refusal.name): \(doctor)")
                }
                for name in ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID"] {
                    if let secret = client[name] { #expect(!export.errors.contains(secret), "\(refusal.name)") }
                }
            }
        }
    }

    @Test(arguments: [("list-type=2", "s3:ListBucket"), ("apps/game/storeledger-probe", "s3:GetObject")])
    func `OS2 doctor names a missing right to list or to read, also for a job that does not publish changes`(
        target: String,
        right: String
    ) async throws {
        try await withBucket(.init(customers: 1)) { stage, server in
            let path = try await stage.migrated(job(stage))
            try server.setFaults(#"[{"method": "GET", "part": "\#(target)", "status": 403, "code": "AccessDenied"}]"#)
            let doctor = try await stage.storeledger("doctor", path, environment: try server.client())
            #expect(doctor.code == 77 && doctor.output.contains("refuses \(right)"), "\(doctor)")
        }
    }

    @Test func `OS9 a failure that passes is repeated, and an answer that was lost is found again`() async throws {
        try await withBucket(.init(customers: 1)) { stage, server in
            let path = try await stage.migrated(job(stage))
            try server.setFaults(
                #"""
                [{"method": "PUT", "part": "partNumber=", "times": 1, "status": 503, "code": "SlowDown"},
                 {"method": "POST", "part": "uploadId=", "times": 1, "status": 200, "code": "InternalError"},
                 {"method": "POST", "part": "uploadId=", "skip": 1, "times": 1, "status": 500, "code": "InternalError", "late": true},
                 {"method": "DELETE", "times": 1, "status": 429, "code": "TooManyRequests"}]
                """#
            )
            let run = try await stage.storeledger("run", path, "--progress", "none", environment: try server.client())
            #expect(run.code == 0, "\(run.errors)")
            #expect(try await server.fetch("apps/game").names == Self.files)
        }
    }

    @Test func `OS3 a bucket that vanishes in the middle ends the run with 78, and the next one publishes`()
        async throws
    {
        try await withBucket { stage, server in
            let path = try await stage.migrated(job(stage))
            let owner = try server.client()
            try server.setFaults(#"[{"method": "PUT", "part": "partNumber=", "skip": 1, "times": 1, "drop": true}]"#)
            let run = try await stage.storeledger("run", path, "--progress", "none", environment: owner)
            #expect(run.code == 78 && run.errors.contains("there is no bucket ledger-bucket"), "\(run.errors)")
            let book = try stage.book()
            let pages = try await book.count("SELECT sum(page_count) FROM crawl_items")
            #expect(pages > 0)
            try server.setFaults("[ ]")
            let next = try await stage.storeledger("run", path, "--progress", "none", environment: owner)
            #expect(next.code == 0, "\(next.errors)")
            #expect(try await book.count("SELECT sum(page_count) FROM crawl_items") == pages)
            #expect(try await server.fetch("apps/game").names == Self.files)
        }
    }

    @Test func `OS8 a URL where only a path is possible is 65, and no folder appears`() async throws {
        try await Stage.with(.init(customers: 1)) { stage in
            let path = try await stage.migrated(stage.job)
            try await stage.run(path)
            for arguments in [
                ["report", path, "--output", "s3://ledger-bucket/report.html"],
                ["export", "--app", "com.example.game", "--directory", "gs://ledger-bucket/files"],
                ["rejects", path, "export", "https://example.com/rejects.jsonl"],
                ["failures", path, "--csv", "file:///tmp/failures.csv"],
            ] {
                try await stage.withStoreledger(arguments) { process in
                    #expect(await process.wait() == 65, "\(arguments): \(process.errors)")
                    #expect(process.errors.contains("s3://BUCKET/PREFIX"), "\(arguments): \(process.errors)")
                }
            }
        }
    }
}
