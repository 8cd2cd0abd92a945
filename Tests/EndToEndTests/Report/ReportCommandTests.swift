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
            #expect(page.output.contains("<table id=\"table-revenue\"") && page.output.contains("nightly"))
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
                    #expect(try !WrittenPage(page).table("revenue").isEmpty)
                    try FileManager.default.removeItem(atPath: page)
                }
            }
        }
    }
}
