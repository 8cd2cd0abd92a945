import AppStoreModel
import Basics
import Hashing
import SignedData
import StrictJSON
import Testing

@testable import AppStoreSimulator

/// Endpoints whose answer is one signed record, not a page: what Get Transaction Info looks like.
extension Route {
    fileprivate static let sample = single("sampleInfo", "/inApps/v1/sample/{transactionId}")
    /// Its path also matches the pattern of ``sample``.
    fileprivate static let nested = single("nestedInfo", "/inApps/v1/sample/nested/{transactionId}")

    private static func single(_ name: String, _ path: String) -> Route {
        Route(name, .get, path, requestsPerSecond: 2) { request, context throws(APIError) in
            let id = try request.checkedTransactionId
            let history = try context.history(of: id).transactions
            guard let found = history.first(where: { String($0.transaction.id) == id.text }) else {
                throw .transactionNotFound
            }
            return SimulatedAnswer(
                records: [.transaction(found, in: context.world.app, now: context.now)]
            ) { signed, json in
                json.member("signedTransactionInfo", signed[0])
            }
        }
    }
}

struct RouteTests {
    private static let routes = Route.all + [.sample, .nested]

    private func run(
        configure: (inout SimulatorConfiguration) -> Void = { _ in },
        _ body: (TestStore, String) async throws -> Void
    ) async throws {
        try await TestStore.run(customers: 1, routes: Self.routes, configure: configure) { store in
            try await body(store, try #require(try store.ids.first))
        }
    }

    private func signed(_ answer: ServerAnswer) throws -> String {
        let json = try answer.json
        #expect(answer.status == 200 && json.members.map(\.key) == ["signedTransactionInfo"])
        return try #require(json["signedTransactionInfo"]?.string)
    }

    @Test func `an answer that is not a page has its signed record and no cursor`() async throws {
        try await run { store, id in
            let jws = try signed(try await store.get("/inApps/v1/sample/" + id))
            let payload = try store.verifier.verify(jws, now: store.clock.now).json.object ?? JSONObject()
            #expect(payload["transactionId"]?.string == id)
            #expect(payload.moment("signedDate") == store.clock.now.rawValue)
            #expect(try await store.get("/inApps/v1/sample/x").errorCode == 4_000_006)
            #expect(try await store.get("/inApps/v1/sample/1").errorCode == 4_040_010)
        }
    }

    @Test(arguments: ["forgeSignature", "expiredLeaf", "duplicateKey", "wrongBundle"])
    func `faults about signatures apply to an answer that is not a page, and the log of answers has the bad record`(
        fault: String
    ) async throws {
        try await run { store, id in
            let rules = "{\"rules\":[{\"endpoint\":\"sampleInfo\",\"fault\":\"\(fault)\"}]}"
            #expect(try await store.put("/simulator/faults", body: rules).status == 200)
            let jws = try signed(try await store.get("/inApps/v1/sample/" + id))
            if fault == "wrongBundle" {
                let payload = try store.verifier.verify(jws, now: store.clock.now).json.object
                #expect(payload?["bundleId"]?.string == "com.example.other")
            } else {
                let verifier = store.verifier
                #expect(throws: JWSRejection.self) { try verifier.verify(jws, now: store.clock.now) }
            }
            let log = try await store.get("/simulator/pages/0", token: .some(nil)).json
            let record = try #require(log["records"]?.array?.first?.object)
            #expect(log.members.map(\.key) == ["records"])
            #expect(record["kind"]?.string == "transaction" && record["key"]?.string == id)
            #expect(record["bad"]?.string == SHA256.digest(of: Array(jws.utf8)).hexadecimal)
        }
    }

    @Test(arguments: ["repeatPage", "emptyPages", "expireToken"])
    func `faults about pages leave an answer that is not a page as it is`(fault: String) async throws {
        try await run { store, id in
            _ = try await store.put("/simulator/faults", body: "{\"rules\":[{\"fault\":\"\(fault)\"}]}")
            let jws = try signed(try await store.get("/inApps/v1/sample/" + id))
            #expect(throws: Never.self) { try store.verifier.verify(jws, now: store.clock.now) }
        }
    }

    @Test func `a route in the registry has its own limit, its own counts and its own fault rules`() async throws {
        func configure(_ configuration: inout SimulatorConfiguration) {
            configuration.rateLimit = .documented
            configuration.windowSeconds = 1
        }
        try await run(configure: configure) { store, id in
            var statuses: [Int] = []
            for _ in 1...3 { statuses.append(try await store.get("/inApps/v1/sample/" + id).status) }
            #expect(statuses == [200, 200, 429])
            #expect(try await store.get("/inApps/v1/sample/nested/" + id).status == 200)
            #expect(try await store.get(TestStore.history(id)).status == 200)
            let log = try await store.get("/simulator/requests", token: .some(nil)).json
            let counts = (log["counts"]?.array ?? []).compactMap(\.object).map { count in
                "\(count["endpoint"]?.string ?? "") \(count.moment("status") ?? 0) \(count.moment("count") ?? 0)"
            }
            #expect(counts == ["transactionHistory 200 1", "sampleInfo 200 2", "sampleInfo 429 1", "nestedInfo 200 1"])
            let unknown = try await store.put(
                "/simulator/faults",
                body: "{\"rules\":[{\"endpoint\":\"sample\",\"fault\":\"delay\"}]}"
            )
            #expect(unknown.status == 400)
            let message = try unknown.json["errorMessage"]?.string
            #expect(message?.hasSuffix(", sampleInfo, nestedInfo.") == true)
        }
    }

    @Test func `a request belongs to the route of its method with the longest matching path`() async throws {
        try await run { store, id in
            let nested = try await store.get("/inApps/v1/sample/nested/" + id)
            #expect(nested.status == 200)
            let otherMethod = try await store.post("/inApps/v1/sample/" + id, body: "")
            #expect(otherMethod.status == 404)
            for path in ["/inApps/v1/notifications/history", "/inApps/v1/sample"] {
                let answer = try await store.get(path)
                #expect(answer.status == 404)
            }
        }
    }

    @Test func `a pattern finds its parameters, and the last one takes the rest of the path`() {
        let pattern = PathPattern("/a/{one}/b/{two}")
        #expect(pattern.prefix == "/a/")
        #expect(pattern.values(in: "/a/1/b/2") == ["one": "1", "two": "2"])
        #expect(pattern.values(in: "/a//b/2/3") == ["one": "", "two": "2/3"])
        for other in ["/a/1/c/2", "/a/1/b", "/a/1", "/b/1/b/2", ""] { #expect(pattern.values(in: other) == nil) }
        #expect(PathPattern("/a/{one}/b").values(in: "/a/1/b") == ["one": "1"])
        #expect(PathPattern("/a/{one}/b").values(in: "/a/1/b/") == nil)
        #expect(PathPattern("/a").values(in: "/a") == [:] && PathPattern("/a").values(in: "/a/") == nil)
    }

    @Test func `every endpoint has a unique name and path`() {
        #expect(Route.all.map(\.name.text) == SimulatorConfiguration.endpointNames)
        #expect(Set(Route.all.map(\.name)).count == Route.all.count)
        #expect(Set(Route.all.map { "\($0.method) \($0.path.text)" }).count == Route.all.count)
    }
}
