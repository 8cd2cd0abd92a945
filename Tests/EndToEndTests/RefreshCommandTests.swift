import Postgres
import TestSupport
import Testing

/// `storeledger refresh` with its options, on a ledger that runs have filled.
@Suite(.migratedDatabase)
struct RefreshCommandTests {
    @Test
    func
        `refresh --verify finds nothing after two nights, reports a damaged total with 2, and then finds nothing`()
        async throws
    {
        try await Stage.with(.init(customers: 20)) { stage in
            let path = try await stage.migrated(stage.job)
            try await stage.run(path)
            _ = try await stage.store.advance(changes: 10)
            try await stage.run(path)
            let equal = try await stage.storeledger("refresh", path, "--verify")
            #expect(equal.code == 0)
            #expect(equal.output == "every view equals a computation from every record\n")

            let book = try stage.book()
            _ = try await book.change("UPDATE refresh_mrr_totals SET subscriptions = subscriptions + 1")
            let damaged = try await stage.storeledger("refresh", path, "--verify")
            #expect(damaged.code == 2)
            #expect(damaged.output.contains("mrr_by_month {"))
            #expect(damaged.output.contains("\n  shown     {") && damaged.output.contains("\n  computed  "))
            #expect(damaged.errors.contains("the views show the computed rows now"))
            let json = try await stage.storeledger("refresh", path, "--full", "--verify", "--json")
            #expect(json.code == 0 && json.output == "[\n\n]\n", "\(json.output)")
        }
    }

    @Test
    func `GR1 refresh --verify names a damaged row with both values and ends with 2, and corrects it`()
        async throws
    {
        try await Stage.with(.init(customers: 20)) { stage in
            let path = try await stage.migrated(stage.job)
            try await stage.run(path)
            let book = try stage.book()
            let shown = "SELECT view::text FROM revenue_by_month view ORDER BY 1"
            let before = try await book.column(shown)
            let damaged = """
                UPDATE refresh_revenue_totals SET gross_milliunits = gross_milliunits + 1
                 WHERE ctid = (SELECT min(ctid) FROM refresh_revenue_totals)
                RETURNING month || ' ' || gross_milliunits AS damage
                """
            let damage = try await book.with { connection in
                try connection.run(damaged)[0].text("damage").split(separator: " ").map(String.init)
            }
            let amount = try #require(Int(damage[1]))
            let found = try await stage.storeledger("refresh", path, "--verify")
            #expect(found.code == 2)
            #expect(found.errors.contains("1 difference; the views show the computed rows now"), "\(found)")
            let lines = found.output.split(separator: "\n")
            try #require(lines.count == 3, "\(found.output)")
            #expect(lines[0].hasPrefix("revenue_by_month {") && lines[0].contains("\"month\": \"\(damage[0])\""))
            #expect(lines[1].hasPrefix("  shown     {") && lines[1].contains("\"gross_milliunits\": \(amount),"))
            #expect(lines[2].hasPrefix("  computed  {") && lines[2].contains("\"gross_milliunits\": \(amount - 1),"))
            #expect(try await book.column(shown) == before)
            try await stage.storeledger("refresh", path, "--verify").expect(0)
        }
    }

    @Test
    func
        `a report that began before a full refresh, and one during it, show the earlier figures and wait for nothing`()
        async throws
    {
        try await Stage.with(.init(customers: 20)) { stage in
            let path = try await stage.migrated(stage.job)
            try await stage.run(path)
            let book = try stage.book()
            let tables = try await book.column(
                "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname ~ '^refresh_(stored_|.*_totals$)'"
            )
            #expect(tables.count > 25)
            for table in tables { try await book.with { try $0.script(inflating(table)) } }
            let arguments = ["report", path, "--output", "-"]
            /// A page without the time at which it was made.
            @Sendable func page() async throws -> String {
                try await stage.withStoreledger(arguments) { process in
                    #expect(await process.wait() == 0, "\(process.errors)")
                    return process.output.replacing(/Read from the ledger at [0-9: -]+ UTC/, with: "")
                }
            }
            func settle(_ table: String) async throws {
                let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '\(table)'::regclass"
                try await poll { try await book.count(waiting) > 0 }
            }
            func change() async throws {
                let paid =
                    "UPDATE transactions SET price_milliunits = price_milliunits + 1000 WHERE price_milliunits > 0"
                #expect(try await book.change(paid) > 0)
            }
            let holder = try PostgresConnection(conninfo: try TemporaryDatabase.conninfo)
            try holder.script("SET search_path = appstore")

            try await change()
            let first = try await page()
            #expect(
                first.contains("<table id=\"table-sales\"")
                    && !first.contains("No purchases in the last three months")
            )
            // Stops the report after its snapshot, at a view that no refresh reads.
            try holder.script("BEGIN; ALTER VIEW masked_apps RENAME TO masked_apps_of_before")
            async let early = page()
            try await settle("masked_apps")
            try await stage.storeledger("refresh", path, "--full").expect(0)
            try holder.script("ROLLBACK")
            #expect(try await early == first)

            try await change()
            let second = try await page()
            #expect(second != first)
            // Stops the refresh after it has stored its rows.
            try holder.script("BEGIN; LOCK TABLE refresh_refund_rate_totals IN SHARE MODE")
            try await stage.withStoreledger(["refresh", path, "--full"]) { refresh in
                try await settle("refresh_refund_rate_totals")
                #expect(try await page() == second)
                try holder.script("COMMIT")
                #expect(await refresh.wait() == 0, "\(refresh.errors)")
            }
            #expect(try await page() != second)
        }
    }
}
