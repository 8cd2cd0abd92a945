import Postgres
import TestSupport
import Testing

/// `storeledger refresh` with its options, on a ledger that runs have filled.
@Suite(.migratedDatabase, .timeLimit(.minutes(15)))
struct RefreshCommandTests {
    @Test
    func
        `refresh --verify finds nothing after two nights, reports a damaged total with 2, and finds nothing after the repair`()
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
            #expect(damaged.errors.contains("the next refresh computes everything from every record"))
            let json = try await stage.storeledger("refresh", path, "--full", "--verify", "--json")
            #expect(json.code == 0 && json.output == "[\n\n]\n", "\(json.output)")
        }
    }

    @Test
    func `GR1 refresh --verify names a damaged row with both values and ends with 2, and the next refresh corrects it`()
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
            #expect(found.errors.contains("1 difference; the next refresh computes everything"), "\(found)")
            let lines = found.output.split(separator: "\n")
            try #require(lines.count == 3, "\(found.output)")
            #expect(lines[0].hasPrefix("revenue_by_month {") && lines[0].contains("\"month\": \"\(damage[0])\""))
            #expect(lines[1].hasPrefix("  shown     {") && lines[1].contains("\"gross_milliunits\": \(amount),"))
            #expect(lines[2].hasPrefix("  computed  {") && lines[2].contains("\"gross_milliunits\": \(amount - 1),"))
            // Until the next refresh the figures have no date.
            #expect(try await book.count("SELECT count(*) FROM view_freshness WHERE refreshed_at IS NOT NULL") == 0)
            let corrected = try await stage.storeledger("refresh", path)
            #expect(corrected.code == 0 && corrected.output.contains(" (all), in "), "\(corrected)")
            #expect(try await book.column(shown) == before)
            try await stage.storeledger("refresh", path, "--verify").expect(0)
        }
    }
}
