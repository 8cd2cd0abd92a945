import FoundationEssentials
import TestSupport
import Testing

/// Groups and seats against the simulated sandbox: crawled, claimed, and taken back.
@Suite(.migratedDatabase)
struct SeatTests {
    private static var store: SimulatedStore.Options {
        var options = SimulatedStore.Options(customers: 20, transactionsPerCustomer: 5, appEnvironment: "Sandbox")
        options.arguments = ["--seat-subscribers", "3"]
        return options
    }

    private static let limits =
        "{concurrency: 8, share: 1, windowSeconds: 10, requestsPerSecond: {transactionHistory: 100000, customerGroups: 100000, groupMembers: 100000, seats: 100000}}"

    /// A job that lists only the subscriptions with seats.
    private func seats(_ stage: Stage) async throws -> String {
        let ids = try String(contentsOfFile: stage.store.directory + "/ids.csv", encoding: .utf8).split(separator: "\n")
        try stage.write("transaction_id\n" + ids.suffix(3).joined(separator: "\n") + "\n", to: "seats.csv")
        var job = stage.job
        job.name = "seats"
        job.transactionIds = "csv: {path: seats.csv, column: transaction_id}"
        job.streams = ["transactionHistory: {}", "customerGroups: {}", "groupMembers: {}", "seats: {}"]
        job.limits = Self.limits
        return try await stage.migrated(job)
    }

    @Test func `a crawl knows groups, members and seats, and a claim whose answer is lost takes one seat`() async throws
    {
        try await Stage.with(Self.store) { stage in
            let crawl = try await seats(stage)
            try await stage.run(crawl)
            let book = try stage.book()
            #expect(try await book.count("SELECT count(*) FROM seats WHERE total_seat_count = 5") == 3)
            #expect(try await book.count("SELECT count(*) FROM customer_groups WHERE group_type = 'CONSUMER'") == 3)
            #expect(try await book.count("SELECT count(*) FROM seat_price_tiers WHERE owner_kind = 'transaction'") == 6)
            let members = try await book.count("SELECT count(*) FROM group_members")
            #expect(members > 3)
            try await stage.run(crawl)
            #expect(try await book.count("SELECT count(*) FROM group_members") == members)
            // The second run knows the app transactions of all listed IDs.
            #expect(
                try await book.count(
                    """
                    SELECT count(*) FROM customer_groups g JOIN group_members m USING (app_id, group_id, app_transaction_id)
                    """
                ) == (try await book.count("SELECT count(*) FROM customer_groups"))
            )

            let scene = ActionScene(stage: stage, crawl: crawl)
            let id = try #require(try await book.column("SELECT original_transaction_id FROM seats ORDER BY 1").first)
            try scene.list(["\(id),", "\(id),"], header: "original_transaction_id,app_transaction_id")
            var job = ActionScene.Job()
            job.name = "claims"
            job.action = "claimSeat: {}"
            job.limits = "{share: 1, windowSeconds: 10, requestsPerSecond: {ENDPOINT: 100000, seats: 100000}}"
            let claims = try scene.write(job)
            try await scene.approve(claims)
            try await stage.store.setFaults(
                #"{"rules": [{"endpoint": "claimSeat", "times": 1, "fault": "applyThenDrop"}]}"#
            )
            _ = try await scene.send(claims)
            let succeeded = try scene.results("succeeded")
            let ids = succeeded.values.compactMap { $0["seat_claim_id"] }.sorted()
            #expect(Set(ids).count == 2, "\(succeeded)")
            try await stage.run(crawl)
            #expect(try await book.column("SELECT seat_claim_id FROM seat_claims ORDER BY 1") == ids)
            #expect(
                try await book.column(
                    "SELECT seats_bought || ' ' || assigned_seats || ' ' || free_seats FROM seats_by_subscription WHERE original_transaction_id = '\(id)'"
                ) == ["5 2 3"]
            )

            // The result file of the claims is the input that gives one of them back; the answer of that is lost, too.
            try scene.list(["\(id),\(ids[0])"], header: "original_transaction_id,seat_claim_id")
            job.name = "unclaims"
            job.action = "unclaimSeat: {}"
            let unclaims = try scene.write(job)
            try await scene.approve(unclaims)
            try await stage.store.setFaults(
                #"{"rules": [{"endpoint": "unclaimSeat", "times": 1, "fault": "applyThenDrop"}]}"#
            )
            _ = try await scene.send(unclaims)
            let confirmed = try scene.results("succeeded")[1]?["outcome_confirmed_by"]
            #expect(confirmed?.hasPrefix("assignedSeatClaimIds") == true)
            #expect(try await book.column("SELECT seat_claim_id FROM seat_access WHERE has_access") == [ids[1]])
        }
    }
}
