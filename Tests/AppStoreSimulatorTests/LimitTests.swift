import AppStoreModel
import StrictJSON
import Testing

@testable import AppStoreSimulator

@Suite struct SlidingWindowTests {
    @Test func `no window ever contains more than the limit`() {
        var random = SplitMix64(seed: 3, path: 0)
        var window = SlidingWindow(limit: 50, length: .seconds(10))
        var admitted: [Int64] = []
        var now: Int64 = 0
        for _ in 0..<20_000 {
            now += Int64(random.below(300))
            if window.reserve(at: UnixMilliseconds(rawValue: now)) == nil { admitted.append(now) }
        }
        for (index, moment) in admitted.enumerated() {
            let inWindow = admitted[...index].reversed().prefix { $0 > moment - 10_000 }.count
            #expect(inWindow <= 50)
        }
        #expect(admitted.count > 10_000)
    }

    @Test func `the returned moment is exactly when the next request is allowed`() {
        var window = SlidingWindow(limit: 2, length: .seconds(10))
        let answers = [1_000, 4_000, 5_000, 10_999, 11_000, 11_000].map {
            window.reserve(at: UnixMilliseconds(rawValue: $0))?.rawValue
        }
        #expect(answers == [nil, nil, 11_000, 11_000, nil, 14_000])
    }
}

struct RateLimitTests {
    @Test func `each endpoint has its own limit, and above it the answer is 429 with the moment to retry`() async throws
    {
        func configure(_ configuration: inout SimulatorConfiguration) {
            configuration.rateLimit = .documented
            configuration.windowSeconds = 1
        }
        try await TestStore.run(customers: 2, configure: configure) { store in
            let id = try #require(try store.ids.first)
            let first = store.clock.now
            for (path, limit) in [(TestStore.history(id), 50), (TestStore.refunds(id), 10)] {
                for _ in 0..<limit { #expect(try await store.get(path).status == 200) }
                let refused = try await store.get(path)
                #expect(refused.status == 429 && refused.contentType == "application/json")
                #expect(
                    String(decoding: refused.body, as: UTF8.self)
                        == "{\"errorCode\":4290000,\"errorMessage\":\"Rate limit exceeded.\"}"
                )
                #expect(refused.retryAfter == String(first.rawValue + 1_000))
            }
            #expect(try await store.post(TestStore.notifications, body: store.wholeReach).status == 200)
            store.clock.advance(by: .seconds(1))
            #expect(try await store.get(TestStore.refunds(id)).status == 200)

            let log = try await store.get("/simulator/requests", token: .some(nil)).json
            #expect(log["refused"] == .number(JSONNumber(text: "2")))
            #expect(log["arrivals"]?.array?.count == 64)
        }
    }

    @Test func `every endpoint with a documented limit has it for itself`() async throws {
        func configure(_ configuration: inout SimulatorConfiguration) {
            configuration.rateLimit = .documented
            configuration.windowSeconds = 1
        }
        try await TestStore.run(customers: 2, configure: configure) { store in
            let id = try #require(try store.ids.first)
            let order = try #require(try store.orderIds.first)
            for (path, limit) in [
                (TestStore.statuses(id), 50), (TestStore.appTransaction(id), 50), (TestStore.order(order), 10),
                (TestStore.historyV1(id), 50), (TestStore.refundsV1(id), 10), ("/inApps/v1/transactions/" + id, 50),
            ] {
                for _ in 0..<limit { #expect(try await store.get(path).status == 200, "\(path)") }
                #expect(try await store.get(path).status == 429, "\(path)")
            }
            let log = try await store.get("/simulator/requests", token: .some(nil)).json
            #expect(log.moment("refused") == 6)
            let orders = (log["arrivals"]?.array ?? []).compactMap { $0.object?["orderId"]?.string }
            #expect(orders == Array(repeating: order, count: 11))
        }
    }

    @Test func `the sandbox allows a tenth`() async throws {
        func configure(_ configuration: inout SimulatorConfiguration) {
            configuration.environment = .sandbox
            configuration.rateLimit = .documented
            configuration.windowSeconds = 1
        }
        try await TestStore.run(customers: 1, configure: configure) { store in
            let path = TestStore.history(try #require(try store.ids.first))
            for _ in 0..<5 { #expect(try await store.get(path).status == 200) }
            #expect(try await store.get(path).status == 429)
        }
    }
}
