import Basics
import Hashing
import SignedData
import StrictJSON
import Testing

@testable import AppStoreSimulator

/// Every fault works for every endpoint that answers signed records.
struct RouteFaultTests {
    private static let endpoints = [
        "transactionInfo", "subscriptionStatuses", "appTransaction", "orderLookup", "transactionHistoryV1",
        "refundHistoryV1",
    ]

    /// A request for the endpoint whose answer has records.
    private func path(_ store: TestStore, for endpoint: String) async throws -> String {
        let id = try #require(try await store.world("refund").keys.min())
        let refunded = try #require(try await store.world("refund")[id]?.object)
        let original = try #require(refunded["originalTransactionId"]?.string)
        let subscription = try #require(try await store.world("subscriptionStatus").keys.min())
        return switch endpoint {
        case "transactionInfo": "/inApps/v1/transactions/" + id
        case "subscriptionStatuses": TestStore.statuses(subscription)
        case "appTransaction": TestStore.appTransaction(id)
        case "orderLookup": TestStore.order(try #require(try store.orderIds.first))
        case "transactionHistoryV1": TestStore.historyV1(id)
        default: TestStore.refundsV1(original)
        }
    }

    /// All signed texts of an answer.
    private func signed(_ answer: ServerAnswer) -> [String] {
        String(decoding: answer.body, as: UTF8.self)
            .matches(of: /"(eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)"/).map { String($0.1) }
    }

    @Test(arguments: endpoints, ["forgeSignature", "expiredLeaf", "duplicateKey", "wrongBundle"])
    func `records are signed wrongly, and the log of answers has them`(endpoint: String, fault: String) async throws {
        try await TestStore.run(customers: 20) { store in
            let path = try await path(store, for: endpoint)
            let rules = "{\"rules\":[{\"endpoint\":\"\(endpoint)\",\"fault\":\"\(fault)\"}]}"
            #expect(try await store.put("/simulator/faults", body: rules).status == 200)
            let texts = signed(try await store.get(path))
            #expect(!texts.isEmpty)
            let log = try await store.get("/simulator/pages/0", token: .some(nil)).json
            let records = (log["records"]?.array ?? []).compactMap(\.object)
            #expect(records.count == texts.count)
            let verifier = store.verifier
            for (text, record) in zip(texts, records) {
                let isBad = fault != "wrongBundle" || record["kind"]?.string != "renewal"
                #expect(record["bad"]?.string == (isBad ? SHA256.digest(of: Array(text.utf8)).hexadecimal : nil))
                if fault == "wrongBundle" {
                    #expect(try store.payload(text)["bundleId"]?.string == (isBad ? "com.example.other" : nil))
                } else {
                    #expect(throws: JWSRejection.self) { try verifier.verify(text, now: store.clock.now) }
                }
            }
        }
    }

    @Test(arguments: endpoints)
    func `other faults apply to the requests that a rule counts`(endpoint: String) async throws {
        try await TestStore.run(customers: 20) { store in
            let path = try await path(store, for: endpoint)
            let id = path.split(separator: "/").last.map(String.init) ?? ""
            let name = endpoint == "orderLookup" ? "orderId" : "transactionId"
            let rules = """
                {"rules": [
                  {"endpoint": "\(endpoint)", "\(name)": "1", "fault": "status", "status": 503},
                  {"endpoint": "\(endpoint)", "\(name)": "\(id)", "atRequest": 2, "fault": "status", "status": 500},
                  {"endpoint": "\(endpoint)", "atRequest": 3, "fault": "rateLimited", "retryAfter": ["5"]},
                  {"endpoint": "\(endpoint)", "atRequest": 4, "fault": "garbageBody", "body": "<html>"}
                ]}
                """
            #expect(try await store.put("/simulator/faults", body: rules).status == 200)
            var statuses: [Int] = []
            for _ in 1...3 { statuses.append(try await store.get(path).status) }
            #expect(statuses == [200, 500, 429])
            #expect(String(decoding: try await store.get(path).body, as: UTF8.self) == "<html>")
            #expect(try await !signed(store.get(path)).isEmpty)
        }
    }
}
