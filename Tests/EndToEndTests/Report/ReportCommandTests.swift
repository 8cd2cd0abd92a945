import FoundationEssentials
import Postgres
import TestSupport
import Testing

/// `storeledger report` where something is missing, in the way or not allowed.
@Suite(.temporaryDatabase)
struct ReportCommandTests {
    @Test func `before the first run the page says that there is nothing yet`() async throws {
        try await Stage.with(.init(customers: 2)) { stage in
            let path = try await stage.migrated(stage.job)
            let page = stage.directory + "/new/report.html"
            let outcome = try await stage.storeledger("report", path, "--output", page)
            #expect(outcome.code == 0 && outcome.errorLines == [])
            #expect(outcome.output.hasSuffix("; nightly has never run\n"), "\(outcome.output)")
            let written = try WrittenPage(page)
            #expect(written.html.contains("There is nothing yet.") && !written.html.contains("<script"))
            #expect(written.html.contains("com.example.game"))
        }
    }

    @Test func `a page that cannot be made leaves the one before and says why in one sentence`() async throws {
        try await Stage.with(.init(customers: 2)) { stage in
            let path = try stage.write(stage.job)
            let page = stage.directory + "/report.html"
            try Data("before".utf8).write(to: URL(filePath: page))
            try FileManager.default.createSymbolicLink(
                atPath: stage.directory + "/link",
                withDestinationPath: stage.directory
            )
            func expect(_ code: Int32, _ words: String, output: String, _ location: SourceLocation = #_sourceLocation)
                async throws
            {
                let outcome = try await stage.storeledger("report", path, "--output", output)
                #expect(outcome.code == code, "\(outcome.errors)", sourceLocation: location)
                #expect(outcome.output == "", sourceLocation: location)
                let isTold = outcome.errorLines.count == 1 && outcome.errors.contains(words)
                #expect(isTold, "\(outcome.errors)", sourceLocation: location)
                #expect(try String(contentsOfFile: page, encoding: .utf8) == "before", sourceLocation: location)
            }
            try await expect(78, "run: storeledger migrate \(path)", output: page)
            _ = try await stage.migrated(stage.job)
            try await expect(73, "it is a directory", output: stage.directory + "/")
            try await expect(73, "symbolic link", output: stage.directory + "/link/report.html")
            try await expect(73, "cannot create", output: "/proc/nowhere/report.html")
            func change(_ sql: String) async throws {
                try await TemporaryDatabase.pool(size: 1).withConnection { connection in
                    try connection.script("SET search_path = appstore; \(sql)")
                }
            }
            try await change("UPDATE refresh_state SET definitions = NULL")
            try await expect(78, "must be computed from every record; run: storeledger refresh", output: page)
            try await change("DROP VIEW crawl_items_by_state")
            try await expect(78, "lacks the view crawl_items_by_state; run: storeledger migrate", output: page)
            try await change("INSERT INTO schema_migrations (name, checksum) VALUES ('9999_later.sql', '')")
            try await expect(78, "use a newer storeledger", output: page)
            #expect(try await stage.storeledger("report", path).code == 64)
        }
    }

    @Test func `--output - writes the page to stdout and nothing else`() async throws {
        try await Stage.with(.init(customers: 2)) { stage in
            let path = try await stage.migrated(stage.job)
            let new = try await stage.storeledger("report", path, "--output", "-")
            #expect(new.code == 0 && new.output.hasPrefix("<!doctype html>") && new.output.hasSuffix("</html>\n"))
            #expect(new.errorLines == ["nightly has never run"])
            try await stage.run(path)
            let page = try await stage.storeledger("report", "--app", "com.example.game", "--output", "-")
            #expect(page.code == 0 && page.errorLines == [] && page.output.hasSuffix("</html>\n"), "\(page.errors)")
            #expect(page.output.contains("<table id=\"table-sales\"") && page.output.contains("nightly"))
        }
    }

    @Test func `loader, exporter and analyst may, and a role without rights gets an error that says so`() async throws {
        try await Stage.with(.init(customers: 6)) { stage in
            try await LedgerRoles.with { roles in
                let path = try await stage.migrated(stage.job)
                let page = stage.directory + "/report.html"
                func report(_ word: String) async throws -> (code: Int32, errors: String) {
                    try await stage.withStoreledger(
                        ["report", path, "--output", page],
                        environment: ["DATABASE_URL": stage.databaseURL(role: roles.name(word))]
                    ) { (await $0.wait(), $0.errors) }
                }
                let refused = try await report("analyst")
                #expect([77, 78].contains(refused.code) && Stage.lines(of: refused.errors).count == 1)
                #expect(!FileManager.default.fileExists(atPath: page))
                try await roles.apply()
                try await stage.run(path)
                for word in ["loader", "exporter", "analyst"] {
                    let outcome = try await report(word)
                    #expect(outcome.code == 0, "\(word): \(outcome.errors)")
                    #expect(try !WrittenPage(page).table("sales").isEmpty)
                    try FileManager.default.removeItem(atPath: page)
                }
            }
        }
    }

    @Test func `one page can have every app of the ledger, and takes no job or app then`() async throws {
        try await Stage.with(.init(customers: 4)) { stage in
            let path = try await stage.migrated(stage.job)
            try await stage.run(path)
            try await stage.book().with {
                // With a rate, the page has the purchases of both apps in one currency.
                try $0.script(
                    """
                    INSERT INTO exchange_rates VALUES ('USD', 'EUR', '2000-01-01', 2);
                    WITH added AS (
                        INSERT INTO apps (bundle_id, environment) VALUES ('com.example.other', 'Production') RETURNING app_id
                    ), run AS (
                        INSERT INTO runs (app_id, job, fingerprint, frozen_now, version, exit_code)
                        SELECT app_id, 'weekly', 'f', now(), '1', 0 FROM added
                    )
                    INSERT INTO transactions (app_id, transaction_id, original_transaction_id, product_id, type, price_milliunits, currency,
                                              storefront, quantity, purchase_date, signed_date, payload_sha256, payload)
                    SELECT app_id, '1', '1', 'only.other', 'Consumable', 5000, 'USD', 'USA', 1, now() - interval '40 days', now(), '', '{}'
                      FROM added
                    """
                )
            }
            try await stage.storeledger("refresh", path).expect(0)
            let outcome = try await stage.storeledger("report", "--all-apps", "--output", "-")
            #expect(outcome.code == 0, "\(outcome.errors)")
            let page = WrittenPage(html: outcome.output)
            #expect(page.html.contains("<h1>2 apps</h1>") && page.html.contains("jobs nightly, weekly"))
            #expect(page.html.contains(#""app_id":["com.example.game","com.example.other"]"#))
            #expect(page.table("sales-by-product").contains { $0[0] == "only.other" })
            #expect(Set(page.table("runs").map { $0[0] }) == ["com.example.game", "com.example.other"])
            for arguments in [
                ["report", path, "--all-apps", "--output", "-"],
                ["report", "--all-apps", "--job", "nightly", "--output", "-"],
            ] {
                let refused = try await stage.withStoreledger(arguments) { (await $0.wait(), $0.errors) }
                #expect(refused.0 == 64 && refused.1.contains("--all-apps"), "\(refused)")
            }
        }
    }
}
