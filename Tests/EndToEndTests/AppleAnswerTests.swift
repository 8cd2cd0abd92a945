import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Every answer of Apple's table, once, from a real server to a real run.
@Suite(.migratedDatabase)
struct AppleAnswerTests {
    /// An answer other than a page, and the exit code of the run that meets it.
    struct Answer: Sendable {
        let id: String
        let status: Int
        var code: Int64?
        var endpoint: String?
        var exit: Int32 = 0

        init(_ id: String, _ status: Int, _ code: Int64? = nil, at endpoint: String? = nil, exit: Int32 = 0) {
            (self.id, self.status, self.code) = (id, status, code)
            (self.endpoint, self.exit) = (endpoint, exit)
        }

        /// A fault rule that strikes the given request; `nil` for every request.
        func rule(atRequest number: Int?, retryAfter: Int64 = 0) -> String {
            var members = number.map { ["\"atRequest\": \($0)"] } ?? []
            if let endpoint { members.append("\"endpoint\": \"\(endpoint)\"") }
            if status == 429 {
                members += ["\"fault\": \"rateLimited\"", "\"retryAfter\": [\"\(retryAfter)\"]"]
            } else {
                members += ["\"fault\": \"status\"", "\"status\": \(status)"]
                members.append(code.map { "\"errorCode\": \($0)" } ?? "\"body\": \"<html>\\u001b[31m no\\r\\nJSON\"")
            }
            return "{\(members.joined(separator: ", "))}"
        }
    }

    static let passing = [
        Answer("H07 H16", 401), Answer("H09", 404, 4_040_002), Answer("H09", 404, 4_040_004),
        Answer("H09", 404, 4_040_006), Answer("H11", 404), Answer("H12", 408), Answer("H12", 425),
        Answer("H12", 502), Answer("H12", 503), Answer("H12", 504), Answer("H13 H28", 429),
        Answer("H13", 500, 5_000_001), Answer("H13", 500, 5_000_000),
        Answer("H02", 400, 4_000_005, at: "transactionHistory"),
        Answer("H03", 400, 4_000_014, at: "notificationHistory"),
    ]

    static let failing = [
        Answer("H01", 400, 4_000_006), Answer("H01", 404, 4_040_001), Answer("H01", 404, 4_040_005),
        Answer("H06", 400, 4_000_099), Answer("H10", 404, 4_040_010),
    ]

    static let stopping = [
        Answer("H05", 400, 4_000_002, exit: 78), Answer("H05", 400, 4_000_013, exit: 65),
        Answer("H05", 400, 4_000_030, exit: 65), Answer("H08 H18", 403, exit: 77),
        Answer("H10", 404, 4_040_003, exit: 78), Answer("H14", 301, exit: 76), Answer("H14", 405, exit: 76),
        Answer("H14", 406, exit: 76), Answer("H14", 415, exit: 76), Answer("H14", 201, exit: 76),
        Answer("H14 H40", 204, exit: 76), Answer("H14 H40", 206, exit: 76),
    ]

    @Test func `H02 H03 H07 H09 H11 H12 H13 an answer that passes leaves no trace in the data`() async throws {
        try await Stage.with(.init(customers: 30, transactionsPerCustomer: 25)) { stage in
            _ = try await stage.store.advance(changes: 50)
            let path = try await stage.migrated(stage.job)
            let opening = Int64(Date.now.timeIntervalSince1970 * 1_000) + 2_000
            // Each at one endpoint, where no two strike the same request.
            let rules = Self.passing.enumerated().map { place, answer in
                var placed = answer
                placed.endpoint = answer.endpoint ?? "transactionHistory"
                return placed.rule(atRequest: answer.endpoint == nil ? 3 + 4 * place : 2, retryAfter: opening)
            }
            try await stage.store.setFaults("{\"rules\": [\(rules.joined(separator: ", "))]}")
            try await stage.run(path)

            let book = try stage.book()
            expectNone(try await book.differences(from: stage.store.world()))
            expectNone(try await book.column("SELECT item_key FROM crawl_items WHERE state <> 'done'"))
            let refused = try await stage.store.requests().arrivals.map(\.status).filter { $0 != 200 }
            #expect(refused.sorted() == Self.passing.map(\.status).sorted())
        }
    }

    @Test func `H01 H06 H10 an answer about one ID fails that ID, and the next run has it`() async throws {
        try await Stage.with { stage in
            let path = try await stage.migrated(stage.job)
            let rules = Self.failing.enumerated().map { place, answer in answer.rule(atRequest: 2 + 3 * place) }
            try await stage.store.setFaults("{\"rules\": [\(rules.joined(separator: ", "))]}")
            try await stage.run(path, expecting: 2)
            let book = try stage.book()
            let failed = "SELECT error_code FROM crawl_items WHERE state = 'failed' ORDER BY 1"
            #expect(try await book.column(failed) == Self.failing.compactMap { $0.code.map(String.init) }.sorted())

            try await stage.store.setFaults(#"{"rules": []}"#)
            try await stage.run(path)
            expectNone(try await book.differences(from: stage.store.world()))
        }
    }

    @Test func `H04 a start that Apple refuses although it is allowed is requested again, and nothing is missing`()
        async throws
    {
        try await Stage.with(.init(customers: 4)) { stage in
            _ = try await stage.store.advance(changes: 10)
            var job = stage.job
            job.streams = ["notificationHistory: {scope: app, startDate: -2d}"]
            job.transactionIds = nil
            let path = try await stage.migrated(job)
            let answer = Answer("H04", 400, 4_000_012, at: "notificationHistory")
            try await stage.store.setFaults("{\"rules\": [\(answer.rule(atRequest: 1))]}")
            try await stage.run(path)
            let book = try stage.book()
            #expect(try await book.count("SELECT sum(restarts) FROM crawl_items") == 1)
            #expect(try await book.count("SELECT count(*) FROM coverage_gaps") == 0)
            #expect(try await book.count("SELECT count(*) FROM notifications") >= 10)
        }
    }

    @Test func `H05 H08 H10 H14 H18 H40 an answer about everything stops the run, a 403 about one ID does not`()
        async throws
    {
        try await Stage.with(.init(customers: 60)) { stage in
            var job = stage.job
            job.limits =
                "{concurrency: 2, share: 1, requestsPerSecond: {transactionHistory: 1000, refundHistory: 1000}}"
            let path = try await stage.migrated(job)
            let book = try stage.book()
            for answer in Self.stopping {
                // One 403 does not stop the run if Apple accepts the key for another request.
                let rule = answer.rule(atRequest: answer.status == 403 ? nil : 3)
                try await stage.store.setFaults("{\"rules\": [\(rule)]}")
                let outcome = try await stage.storeledger("run", path, "--progress", "none")
                #expect(outcome.code == answer.exit, "\(answer): \(outcome.errors)")
                #expect(outcome.errorLines.count == 1, "\(answer): \(outcome.errors)")
                #expect(!outcome.errors.contains("\u{1B}") && outcome.errors.utf8.count < 1_000, "\(answer)")
                #expect(try await book.count("SELECT count(*) FROM crawl_items WHERE state = 'failed'") == 0)
            }
            let open = "SELECT item_key FROM crawl_items WHERE stream = 'transactionHistory' AND state <> 'done'"
            let id = try #require(try await book.column(open).last)
            try await stage.store.setFaults(
                #"{"rules": [{"endpoint": "transactionHistory", "transactionId": "\#(id)", "fault": "status", "status": 403}]}"#
            )
            try await stage.run(path, expecting: 2)
            #expect(try await book.column("SELECT item_key FROM crawl_items WHERE error_code = 403") == [id])
            #expect(try await book.count("SELECT count(*) FROM crawl_items WHERE state <> 'done'") == 1)
            #expect(try await book.count("SELECT count(*) FROM runs") == 1)

            try await stage.store.setFaults(#"{"rules": []}"#)
            try await stage.run(path)
            expectNone(try await book.differences(from: stage.store.world()))
        }
    }

    @Test func `H19 a request answered with a 404 that is not Apple's is sent three times, and then stops the run`()
        async throws
    {
        try await Stage.with(.init(customers: 3)) { stage in
            let ids = try String(contentsOfFile: stage.store.directory + "/ids.csv", encoding: .utf8)
            let id = try #require(ids.split(separator: "\n").dropFirst().first)
            let path = try await stage.migrated(stage.job)
            try await stage.store.setFaults(
                #"""
                {"rules": [{"endpoint": "transactionHistory", "transactionId": "\#(id)", "fault": "status",
                            "status": 404, "body": "<html>Not found</html>"}]}
                """#
            )
            let outcome = try await stage.run(path, expecting: 76)
            #expect(outcome.errors.contains("HTTP 404: <html>Not found</html>"), "\(outcome.errors)")
            #expect(try await stage.store.requests().arrivals.count { $0.status == 404 } == 3)
        }
    }

    @Test func `H21 a 429 that names a moment a year ahead is waited out for an hour at most, and 75 at the deadline`()
        async throws
    {
        try await Stage.with(.init(customers: 3)) { stage in
            let path = try await stage.migrated(stage.job)
            let year = Int64(Date.now.timeIntervalSince1970 * 1_000) + 365 * 86_400_000
            try await stage.store.setFaults(
                #"{"rules": [{"endpoint": "refundHistory", "fault": "rateLimited", "retryAfter": ["\#(year)"]}]}"#
            )
            let outcome = try await stage.storeledger("run", path, "--progress", "plain", "--max-duration", "15s")
            #expect(outcome.code == 75, "\(outcome.errors)")
            #expect(outcome.errors.contains("refundHistory"), "\(outcome.errors)")
            let ahead = try await stage.book().count(
                "SELECT ceil(extract(epoch FROM max(closed_until) - clock_timestamp())) FROM rate_scopes"
            )
            #expect((3_500...3_600).contains(ahead))
            // One for each worker that was on its way, and H27: the other endpoints went on.
            let requests = try await stage.store.requests()
            #expect((1...8).contains(requests.count(of: "refundHistory")))
            #expect(requests.count(of: "transactionHistory") >= 3)
        }
    }

    @Test func `H27 a 429 of one endpoint leaves the others open`() async throws {
        try await Stage.with(.init(customers: 40)) { stage in
            let path = try await stage.migrated(stage.job)
            let year = Int64(Date.now.timeIntervalSince1970 * 1_000) + 365 * 86_400_000
            try await stage.store.setFaults(
                #"{"rules": [{"endpoint": "refundHistory", "atRequest": 1, "fault": "rateLimited", "retryAfter": ["\#(year)"]}]}"#
            )
            let book = try stage.book()
            try await stage.withStoreledger(["run", path]) { process in
                let loaded = "SELECT count(*) FROM crawl_items WHERE stream = 'transactionHistory' AND state = 'done'"
                try await poll { try await book.count(loaded) == 40 || process.hasEnded }
                #expect(!process.hasEnded, "\(process.errors)")
                process.signal(SIGTERM)
                await process.wait()
            }
            // One for each worker that was on its way.
            #expect((1...8).contains(try await stage.store.requests().count(of: "refundHistory")))
        }
    }
}
