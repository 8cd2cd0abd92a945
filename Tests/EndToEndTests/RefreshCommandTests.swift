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
}
