import AppStoreModel
import SignedData
import Streams
import StrictJSON
import Testing

@testable import AppStoreSimulator

struct FaultTests {
    private func answers(
        under rules: String,
        count: Int = 1,
        _ check: (TestStore, [ServerAnswer]) throws -> Void
    ) async throws {
        try await TestStore.run(customers: 1, transactionsPerCustomer: 45) { store in
            let path = TestStore.history(try #require(try store.ids.first))
            let accepted = try await store.put("/simulator/faults", body: "{\"rules\":[\(rules)]}")
            #expect(accepted.status == 200)
            var answers: [ServerAnswer] = []
            for _ in 0..<count { answers.append(try await store.get(path)) }
            try check(store, answers)
        }
    }

    @Test func `a rule applies to the requests it counts`() async throws {
        let rules = """
            {"everyNth": 3, "times": 2, "fault": "status", "status": 500, "errorCode": 5000001},
            {"atRequest": 4, "fault": "rateLimited", "retryAfter": ["soon"]}
            """
        try await answers(under: rules, count: 10) { _, answers in
            #expect(answers.map(\.status) == [200, 200, 500, 429, 200, 500, 200, 200, 200, 200])
            #expect(answers[2].errorCode == 5_000_001)
            #expect(answers[3].retryAfter == "soon")
        }
    }

    @Test(
        arguments: [
            ("forgeSignature", JWSRejection.Reason.signature), ("expiredLeaf", nil), ("duplicateKey", nil),
        ] as [(String, JWSRejection.Reason?)]
    )
    func `records signed wrongly do not verify`(fault: String, reason: JWSRejection.Reason?) async throws {
        try await answers(under: "{\"fault\":\"\(fault)\"}") { store, answers in
            let page = try TransactionHistory.page(answers[0].body)
            guard case .transaction(let jws) = page.records[0] else { return }
            #expect(page.records.count == 20)
            let verifier = store.verifier
            let rejection = #expect(throws: JWSRejection.self) { try verifier.verify(jws, now: store.clock.now) }
            if let reason { #expect(rejection?.reason == reason) }
        }
    }

    @Test func `a record of another app verifies and has its bundle ID`() async throws {
        try await answers(under: "{\"fault\":\"wrongBundle\"}") { store, answers in
            let payloads = try store.payloads([TransactionHistory.page(answers[0].body)])
            #expect(payloads.allSatisfy { $0["bundleId"]?.string == "com.example.other" })
        }
    }

    @Test func `a repeated page keeps its cursor, an empty one gets a new one, and more follows both`() async throws {
        try await TestStore.run(customers: 1, transactionsPerCustomer: 45) { store in
            let path = TestStore.history(try #require(try store.ids.first))
            let cursor = try #require(try TransactionHistory.page(try await store.get(path).body).cursor)
            for (fault, isEmpty) in [("repeatPage", false), ("emptyPages", true)] {
                _ = try await store.put("/simulator/faults", body: "{\"rules\":[{\"fault\":\"\(fault)\"}]}")
                let page = try TransactionHistory.page(try await store.get(path, [("revision", cursor)]).body)
                #expect(page.hasMore && page.records.isEmpty == isEmpty)
                #expect((page.cursor == cursor) != isEmpty)
            }
        }
    }

    @Test(arguments: ["{\"fault\":\"dropConnection\"}", "{\"fault\":\"truncateBody\",\"bytes\":1000}"])
    func `a connection that is closed early gives no page`(rule: String) async throws {
        try await TestStore.run(customers: 1, transactionsPerCustomer: 45) { store in
            let path = TestStore.history(try #require(try store.ids.first))
            _ = try await store.put("/simulator/faults", body: "{\"rules\":[\(rule)]}")
            await #expect(throws: (any Error).self) { try await store.get(path) }
            _ = try await store.put("/simulator/faults", body: "{}")
            #expect(try await store.get(path).status == 200)
        }
    }

    @Test func `garbage, slow and delayed answers arrive complete`() async throws {
        try await answers(under: "{\"fault\":\"garbageBody\",\"body\":\"<html>\"}") { _, answers in
            #expect(String(decoding: answers[0].body, as: UTF8.self) == "<html>")
        }
        for rule in ["{\"fault\":\"slow\",\"bytesPerSecond\":1000000}", "{\"fault\":\"delay\",\"milliseconds\":1}"] {
            try await answers(under: rule) { _, answers in
                let page = try TransactionHistory.page(answers[0].body)
                #expect(page.records.count == 20)
            }
        }
    }

    @Test(arguments: [
        "{\"rules\":[{\"fault\":\"explode\"}]}", "{\"rules\":[{\"falut\":\"delay\"}]}", "{\"rule\":[]}", "[]",
        "{\"rules\":[{\"fault\":\"status\"}]}", "{\"rules\":[{\"fault\":\"delay\",\"everyNth\":0}]}",
        "{\"rules\":[{\"fault\":\"delay\",\"endpoint\":\"refunds\"}]}",
    ])
    func `invalid rules are refused`(text: String) {
        #expect(throws: SimulatorError.self) {
            try FaultPlan(json: Array(text.utf8), source: "a test", endpoints: Route.all.map(\.name))
        }
    }
}
