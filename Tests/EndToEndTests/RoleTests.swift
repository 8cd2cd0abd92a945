import FoundationEssentials
import Postgres
import TestSupport
import Testing

/// The commands as the roles of `sql/roles.sql` run them.
@Suite(.temporaryDatabase)
struct RoleTests {
    /// Every command a role is for, on a ledger that only roles have touched.
    @Test func `migrator, loader and exporter do their work with their rights alone, and no role does another's`()
        async throws
    {
        try await Stage.with(.init(customers: 8)) { stage in
            try await LedgerRoles.with { roles in
                var job = stage.job
                job.csv = "{directory: out, tables: [transactions, refunds, notifications, renewals, rejected_records]}"
                let path = try stage.write(job)
                func expect(_ word: String, _ codes: [Int32], _ arguments: String...) async throws {
                    try await stage.withStoreledger(
                        arguments,
                        environment: ["DATABASE_URL": stage.databaseURL(role: roles.name(word))]
                    ) { process in
                        let code = await process.wait()
                        #expect(codes.contains(code), "\(word) \(arguments): \(code) \(process.errors)")
                    }
                }
                try await expect("loader", [77], "migrate", path)
                try await expect("migrator", [0], "migrate", path)
                try await expect("loader", [77], "run", path)  // not before sql/roles.sql has run again
                try await roles.apply()
                try await expect("migrator", [0], "migrate", path)

                try await expect("loader", [0], "plan", path)
                try await expect("loader", [0], "doctor", path)
                try await expect("loader", [0], "run", path)
                try await expect("loader", [0], "run", path, "--restart")
                _ = try await stage.store.advance(changes: 10)
                try await expect("loader", [0], "run", path)
                try await expect("loader", [0], "replay", path)
                try await expect("loader", [0], "replay", path, "--rejected")
                try await expect("loader", [0], "retry", path)
                try await expect("loader", [0], "refresh", path)
                try await expect("loader", [0], "dictionary", path)
                for word in ["loader", "exporter"] {
                    try await expect(word, [0], "export", path)
                    try await expect(word, [0], "status", path)
                    try await expect(word, [0], "status")
                    try await expect(word, [0], "jobs")
                    try await expect(word, [0], "rejects", path)
                    try await expect(word, [0], "failures", path, "--csv", stage.directory + "/failures.csv")
                    try await expect(word, [0], "coverage", path)
                    try await expect(word, [0], "plan", path)
                }
                #expect(try await stage.book().differences(from: try await stage.store.world()) == [])

                let ids = try await stage.book().column("SELECT original_transaction_id FROM transactions LIMIT 1")
                let id = try #require(ids.first)
                for word in ["loader", "exporter", "analyst"] {
                    try await expect(word, [77, 78], "erase", path, "--yes", "--transaction-id", id)
                }
                try await expect("eraser", [0], "erase", path, "--transaction-id", id, "--dry-run")
                try await expect("eraser", [0], "erase", path, "--yes", "--transaction-id", id)
                try await expect("eraser", [0], "erase", path, "--reapply")
                #expect(
                    try await stage.book().count(
                        "SELECT count(*) FROM transactions WHERE original_transaction_id = '\(id)'"
                    ) == 0
                )
                try await expect("loader", [0, 2], "run", path)
                for command in ["migrate", "run", "retry", "replay"] { try await expect("eraser", [77], command, path) }

                for command in ["migrate", "run", "retry", "replay", "refresh"] {
                    try await expect("exporter", [77], command, path)
                }
                for word in ["exporter", "eraser"] { try await expect(word, [77], "jobs", "remove", "nightly") }
                try await expect("exporter", [77], "rejects", path, "export", stage.directory + "/rejects.jsonl")
                try await expect("exporter", [77], "rejects", path, "dismiss", "--all")
                try await expect("loader", [0], "rejects", path, "export", stage.directory + "/rejects.jsonl")
                try await expect("loader", [0], "rejects", path, "dismiss", "--all")
                for command in ["migrate", "run", "retry", "replay", "refresh", "export", "coverage"] {
                    try await expect("analyst", [77, 78], command, path)
                }
                try await expect("analyst", [0], "status", path)
                // Last, because the commands above need the job.
                try await expect("loader", [0], "jobs", "remove", "nightly")
            }
        }
    }

    @Test
    func `the owner of a ledger runs every command after sql/roles.sql as before, and an analyst reads the report`()
        async throws
    {
        try await Stage.with(.init(customers: 5)) { stage in
            try await LoginRoles.with("ana", "me") { names in
                try await LoginRoles.create(names[1])
                var job = stage.job
                job.csv = "{directory: out, tables: [transactions]}"
                let path = try stage.write(job)
                func expectDone(_ role: String, _ arguments: String...) async throws {
                    let environment = ["DATABASE_URL": stage.databaseURL(role: role)]
                    try await stage.withStoreledger(arguments, environment: environment) { process in
                        let code = await process.wait()
                        #expect(code == 0, "\(role) \(arguments): \(code) \(process.errors)")
                    }
                }
                try await expectDone(names[1], "migrate", path)
                try await expectDone(names[1], "run", path)
                let script = try await Psql(conninfo: TemporaryDatabase.conninfo).script(
                    "analyst.sql",
                    ["analyst": names[0]]
                )
                #expect(script.code == 0, "\(script)")
                try await LedgerRoles.with { roles in
                    _ = try await stage.store.advance(changes: 10)
                    for command in ["migrate", "doctor", "run", "replay", "refresh", "export", "status", "coverage"] {
                        try await expectDone(names[1], command, path)
                    }
                    try await expectDone(roles.name("loader"), "run", path)
                    try await expectDone(names[0], "status")
                    try await expectDone(names[0], "report", "--output", stage.directory + "/report.html")
                }
            }
        }
    }

    @Test func `status as the analyst shows what the role may read, and names the rest`() async throws {
        try await Stage.with(.init(customers: 5)) { stage in
            try await LedgerRoles.with { roles in
                let path = try await stage.migrated(stage.job)
                try await roles.apply()
                try await stage.run(path)
                let analyst = ["DATABASE_URL": stage.databaseURL(role: roles.name("analyst"))]
                let words = "status --app com.example.game"
                let full = try await stage.storeledger("status", "--app", "com.example.game", "--json")
                let outcome = try await stage.storeledger(
                    "status",
                    "--app",
                    "com.example.game",
                    "--json",
                    environment: analyst
                )
                #expect(outcome.code == 0 && outcome.errorLines == [], "\(words): \(outcome)")
                struct Status: Decodable, Equatable {
                    struct Run: Decodable, Equatable {
                        let state: String
                        let exitCode, pages, rowsNew: Int
                    }
                    struct Items: Decodable, Equatable {
                        let stream: String
                        let done, failed: Int
                    }
                    struct Storage: Decodable, Equatable { let table: String }
                    let runs: [Run]
                    let items: [Items]
                    let storage: [Storage]
                    var notReadable: [String]?
                }
                let all = try JSONDecoder().decode([Status].self, from: Data(full.output.utf8))
                var seen = try JSONDecoder().decode([Status].self, from: Data(outcome.output.utf8))
                #expect(all.first?.notReadable == nil)
                #expect(
                    seen.first?.notReadable == [
                        "message", "failures", "unknownIds", "retryable", "oldestUnfinished", "budget", "certificates",
                        "receiver", "leftOutFacts", "withoutPrice", "externalPurchases", "forwards",
                    ]
                )
                seen[0].notReadable = nil
                #expect(seen == all && all.first?.runs.first?.state == "finished")
                let text = try await stage.storeledger("status", environment: analyst).output
                #expect(
                    text.contains(
                        "\n  not shown, because the role may not read it: messages, failed items, unknown IDs, items to retry, oldest unfinished item, spent limits, certificates, received notifications, fields that Apple left out, transactions without a price, external purchases, forwarded notifications\n"
                    ),
                    "\(text)"
                )
                let exporter = ["DATABASE_URL": stage.databaseURL(role: roles.name("exporter"))]
                let exported = try await stage.storeledger("status", environment: exporter)
                #expect(exported.code == 0 && !exported.output.contains("not shown"), "\(exported)")
            }
        }
    }

    @Test func `no query of the analyst's finds a token, a payload or a signature (P6)`() async throws {
        try await Stage.with(.init(customers: 40)) { stage in
            let path = try await stage.migrated(stage.job)
            try await stage.run(path)
            let tokens = try await stage.book().column(
                """
                SELECT app_account_token FROM transactions WHERE app_account_token IS NOT NULL
                UNION SELECT app_account_token FROM renewals WHERE app_account_token IS NOT NULL
                UNION SELECT app_account_token FROM notifications WHERE app_account_token IS NOT NULL
                """
            )
            try #require(tokens.count > 5)
            let signatures = try await stage.book().column(
                "SELECT encode(signature, 'hex') FROM signed_payloads LIMIT 50"
            )
            let views = try await stage.book().column(
                "SELECT relname FROM pg_class WHERE relnamespace = 'appstore'::regnamespace AND relkind = 'v'"
            )
            let tables = try await stage.book().column(
                "SELECT relname FROM pg_class WHERE relnamespace = 'appstore'::regnamespace AND relkind = 'r'"
            )
            let secrets = Needles(tokens + signatures)
            let relations = views + tables
            let open =
                views.filter { !$0.hasPrefix("refresh_") && !$0.hasPrefix("external_purchase_") } + [
                    "products", "exchange_rates", "proceeds_rules", "schema_migrations",
                    "schema_definitions",
                ]
            try await LedgerRoles.with { roles in
                let connection = try PostgresConnection(conninfo: roles.conninfo("analyst"))
                var answers = 0
                var refusals = 0
                // Some servers are built without XML.
                let hasXML = (try? connection.run("SELECT xmlcomment('')")) != nil
                let forms =
                    [
                        "SELECT (r)::text AS words FROM RELATION r",
                        "SELECT to_jsonb(r)::text AS words FROM RELATION r",
                        "SELECT string_agg(r::text, '') AS words FROM RELATION r WHERE NOT pg_sleep(0) IS NULL",
                    ]
                    + (hasXML
                        ? ["SELECT query_to_xml('SELECT * FROM RELATION', true, false, '')::text AS words"] : [])
                for relation in relations {
                    let columns = ["app_account_token", "payload", "payload_sha256", "signature", "header", "raw"]
                    for form in forms + columns.map({ "SELECT \($0)::text AS words FROM RELATION" }) {
                        do {
                            let rows = try connection.run(form.replacing("RELATION", with: "appstore.\(relation)"))
                            #expect(open.contains(relation), "\(relation) is open to the analyst")
                            answers += 1
                            for row in rows {
                                let words = (try row.textOrNil("words") ?? "").lowercased()
                                #expect(!words.contains("eyj"), "\(relation) shows signed text")
                                #expect(secrets.ids(in: words).isEmpty, "\(relation) shows a token or a signature")
                            }
                        } catch let error as PostgresError {
                            #expect([.insufficientPrivilege, .undefinedColumn].contains(error.state), "\(error)")
                            refusals += 1
                        }
                    }
                }
                // The header of a retention message is a text that customers see.
                #expect(answers == open.count * forms.count + 1)
                #expect(refusals == relations.count * (forms.count + 6) - answers)
            }
        }
    }
}
