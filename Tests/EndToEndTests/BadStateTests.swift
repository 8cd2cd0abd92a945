import FoundationEssentials
import Postgres
import TestSupport
import Testing

/// Every command on a ledger that is not what it should be: one sentence, and the right exit code.
@Suite(.temporaryDatabase)
struct BadStateTests {
    /// A command, and what it ends with in each state.
    struct Row: Sendable {
        let command: [String]
        let empty, newer, forbidden, neverRan: Int32
        /// The output for a job that never ran.
        var says = ""

        init(
            _ command: String,
            _ empty: Int32,
            _ newer: Int32,
            _ forbidden: Int32,
            _ neverRan: Int32,
            _ says: String = ""
        ) {
            self.command = command.split(separator: " ").map(String.init)
            (self.empty, self.newer, self.forbidden, self.neverRan, self.says) = (
                empty, newer, forbidden, neverRan, says
            )
        }
    }

    private static let rows = [
        Row("validate JOB", 0, 0, 0, 0),
        // A list is counted without the ledger, customers named by notifications are not.
        Row("plan JOB", 0, 0, 0, 0, "nightly: 12 transaction IDs"),
        Row("plan CHANGED", 78, 78, 77, 0, "the number of customers is not known yet"),
        Row("status JOB", 78, 78, 77, 0, "nightly has never run"),
        Row("status JOB --json", 78, 78, 77, 0, "null"),
        Row("status", 78, 78, 77, 0, "no job has ever run"),
        Row("coverage JOB", 78, 78, 77, 0, "nightly has never run"),
        Row("doctor JOB", 78, 78, 77, 0, "schema"),
        Row("export JOB", 78, 78, 77, 0, "transactions.csv: 0 rows"),
        Row("replay JOB", 78, 78, 77, 0, "0 payloads"),
        Row("replay JOB --rejected", 78, 78, 77, 0, "0 payloads"),
        Row("retry JOB --progress none", 78, 78, 77, 0, "nightly has never run"),
        Row("refresh JOB", 78, 78, 77, 0, "purchases computed: 0"),
        Row("refresh JOB --json", 78, 78, 77, 0, "\"purchases\" : 0"),
        Row("dictionary JOB", 78, 78, 77, 0, "## transactions"),
        Row("report JOB --output PAGE", 78, 78, 77, 0, "page.html"),
        Row("coverage JOB --json", 78, 78, 77, 0, "nightly has never run"),
        Row("status JOB --metrics-file METRICS", 78, 78, 77, 0, "nightly has never run"),
        Row("erase JOB --yes --unknown --transaction-id 1", 78, 78, 77, 0, "no records"),
        Row(
            "erase JOB --app-account-token 7e3fb20b-4cdb-47cc-936d-99d65f608138 --dry-run --unknown",
            78,
            78,
            77,
            0,
            "no records"
        ),
        Row("erase JOB --reapply", 78, 78, 77, 0, ""),
        Row("migrate JOB", 0, 78, 77, 0, "up to date"),
        Row("run JOB --progress none", 78, 78, 77, 0, "nightly: run 1 complete"),
    ]

    private static func play(
        _ stage: Stage,
        _ rows: [Row],
        environment: [String: String] = [:],
        _ expected: (Row) -> (code: Int32, says: String)
    ) async throws {
        var job = stage.job
        job.csv = "{directory: out, tables: [transactions]}"
        let path = try stage.write(job)
        job.name = "changed"
        job.transactionIds = "{changedSince: lastRun}"
        let changed = try stage.write(job)
        for row in rows {
            let files = [
                "JOB": path, "CHANGED": changed, "PAGE": stage.directory + "/page.html",
                "METRICS": stage.directory + "/storeledger.prom",
            ]
            let arguments = row.command.map { files[$0] ?? $0 }
            let (code, says) = expected(row)
            try await stage.withStoreledger(arguments, environment: environment) { process in
                let found = await process.wait()
                let told = process.output + process.errors
                #expect(found == code, "\(row.command): \(found), not \(code): \(told)")
                #expect(told.contains(says), "\(row.command): \(told)")
                // What is wrong is one sentence, but for doctor's list.
                if code != 0, row.command[0] != "doctor" {
                    let sentences = Stage.lines(of: process.errors)
                    #expect(sentences.count == 1, "\(row.command): \(process.errors)")
                    #expect(process.output.isEmpty, "\(row.command): \(process.output)")
                }
            }
        }
    }

    @Test func `every command says of an empty database that its schema is to be made first`() async throws {
        try await Stage.with { stage in
            let rows = Self.rows.filter { $0.command[0] != "migrate" }
            try await Self.play(stage, rows) { ($0.empty, $0.empty == 78 ? "storeledger migrate " : "") }
        }
    }

    @Test func `every command refuses a schema that a newer version has made`() async throws {
        try await Stage.with { stage in
            _ = try await stage.migrated(stage.job)
            try await stage.book().with {
                try $0.script("INSERT INTO schema_migrations (name, checksum) VALUES ('9999_future.sql', '')")
            }
            try await Self.play(stage, Self.rows) { ($0.newer, $0.newer == 78 ? "use a newer storeledger" : "") }
        }
    }

    @Test func `every command says that PostgreSQL refuses a role without rights`() async throws {
        try await Stage.with { stage in
            try await LedgerRoles.with { roles in
                _ = try await stage.migrated(stage.job)
                // Its rights came before there was a schema, so it has none in it.
                let url = stage.databaseURL(role: roles.name("loader"))
                try await Self.play(stage, Self.rows, environment: ["DATABASE_URL": url]) {
                    ($0.forbidden, $0.forbidden == 77 ? "PostgreSQL refuses" : "")
                }
            }
        }
    }

    @Test func `every command says of a job that never ran that it has not`() async throws {
        try await Stage.with { stage in
            _ = try await stage.migrated(stage.job)
            try await Self.play(stage, Self.rows) { ($0.neverRan, $0.says) }
        }
    }

    @Test func `every command has an example to paste in its help`() async throws {
        let names = try await withChildProcess(Executables.storeledger, ["help"], environment: [:]) { process in
            await process.wait()
            return process.output.split(separator: "\n").drop { $0 != "SUBCOMMANDS:" }.dropFirst()
                .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
                .compactMap { $0.split(separator: " ").first.map(String.init) }
                .filter { $0.allSatisfy(\.isLowercase) }
        }
        #expect(Set(Self.rows.map { $0.command[0] }).isSubset(of: Set(names)))
        for name in names {
            try await withChildProcess(Executables.storeledger, ["help", name], environment: [:]) { process in
                await process.wait()
                let lines = process.output.split(separator: "\n", omittingEmptySubsequences: false)
                let examples = lines.indices.filter { lines[$0].hasPrefix("  storeledger \(name)") }
                #expect(!examples.isEmpty, "\(name)")
                // None is folded, which would end the command in the middle.
                #expect(examples.allSatisfy { lines[$0 + 1].isEmpty || lines[$0 + 1].hasPrefix("  ") }, "\(lines)")
            }
        }
    }
}
