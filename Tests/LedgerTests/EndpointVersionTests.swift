import AppStoreModel
import Planning
import Status
import Streams
import TestSupport
import Testing

/// Version 1 of an endpoint that the job file requests, as the ledger keeps it.
@Suite(.migratedDatabase)
struct EndpointVersionTests {
    @Test(arguments: ["transactionHistory", "refundHistory"])
    func `a cursor of one version of an endpoint is not used for the other`(name: String) async throws {
        let world = try await TestLedger()
        var cursors: [String?] = []
        for section in ["{}", "{version: 2}", "{version: 1}", "{version: 1}", "{}"] {
            let start = try await world.begin("\(name): \(section)", ids: ["1"])
            let items = try await world.take(StreamName(name), 1, for: world.holder(of: start.run))
            cursors.append(try #require(items.first).cursor)
            try await world.finish(start.run)
        }
        // Version 1 of refund history has no pages, so it never has a cursor to continue from.
        #expect(cursors == [nil, "R", nil, name == "transactionHistory" ? "R" : nil, nil])
    }

    @Test func `coverage says what version 1 of an endpoint omits, and no more once version 2 is requested`()
        async throws
    {
        let world = try await TestLedger()
        let omissions = {
            let lines = Collected<ItemCoverage>()
            try await world.ledger.coverage(of: "nightly-sync", app: world.app) {
                lines.append($0); return true
            }
            return lines.all.map { "\($0.stream): \($0.omits?.joined(separator: ", ") ?? "nothing")" }
        }
        let first = try await world.begin("transactionHistory: {version: 1}, refundHistory: {version: 1}", ids: ["1"])
        try await world.finish(first.run)
        #expect(
            try await omissions() == [
                "refundHistory: all but the 50 latest refunds of a customer",
                "transactionHistory: finished consumables",
            ]
        )
        let second = try await world.begin("transactionHistory: {}, refundHistory: {}", ids: ["1"])
        try await world.finish(second.run)
        #expect(try await omissions() == ["refundHistory: nothing", "transactionHistory: nothing"])
    }
}
