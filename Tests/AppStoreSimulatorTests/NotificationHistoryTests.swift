import AppStoreModel
import SignedData
import Streams
import StrictJSON
import Testing

@testable import AppStoreSimulator

struct NotificationHistoryTests {
    @Test func `the whole app's history is every notification once, in the order of signing`() async throws {
        try await TestStore.run(customers: 60) { store in
            let pages = try await store.notificationPages(store.wholeReach)
            let payloads = try store.payloads(pages)
            let dates = payloads.compactMap { $0["signedDate"].flatMap { Int64(JSONWriter.text($0)) } }
            #expect(dates == dates.sorted())
            let start = (store.clock.now - .seconds(179 * 86_400)).rawValue
            let everything = try await store.world("notification").compactMapValues { $0.object?.opened }
            let expected = everything.filter { $0.value.moment("signedDate") ?? 0 >= start }
            let found = payloads.map { ($0["notificationUUID"]?.string ?? "", $0.opened) }
            #expect(found.count == expected.count && expected.count > 100)
            #expect(Dictionary(uniqueKeysWithValues: found) == expected)
        }
    }

    @Test func `what a notification carries is signed too`() async throws {
        try await TestStore.run(customers: 20) { store in
            let verifier = store.verifier
            var inner = 0
            for payload in try store.payloads(try await store.notificationPages(store.wholeReach)) {
                for (place, key) in [
                    ("data", "signedTransactionInfo"), ("data", "signedRenewalInfo"),
                    ("appData", "signedAppTransactionInfo"),
                ] {
                    guard let jws = payload[place]?.object?[key]?.string else { continue }
                    _ = try verifier.verify(jws, now: store.clock.now)
                    inner += 1
                }
            }
            #expect(inner > 50)
        }
    }

    @Test func `a token belongs to its body and can expire`() async throws {
        try await TestStore.run(customers: 60) { store in
            let body = store.wholeReach
            let other = body.replacing("}", with: ",\"onlyFailures\":true}")
            let path = TestStore.notifications
            let page = try NotificationHistory.page(try await store.post(path, body: body).body)
            let token = [("paginationToken", try #require(page.cursor))]
            #expect(try await store.post(path, token, body: body).status == 200)
            #expect(try await store.post(path, token, body: other).errorCode == 4_000_014)
            #expect(try await store.post(path, [("paginationToken", "x")], body: body).errorCode == 4_000_014)
            _ = try await store.put("/simulator/faults", body: "{\"tokenLifetimeSeconds\":60}")
            store.clock.advance(by: .seconds(61))
            #expect(try await store.post(path, token, body: body).errorCode == 4_000_017)
        }
    }

    @Test func `filters choose by customer, type, subtype and failure`() async throws {
        try await TestStore.run(customers: 60) { store in
            func found(_ filter: String) async throws -> [JSONObject] {
                let body = store.wholeReach.replacing("}", with: "," + filter + "}")
                return try store.payloads(try await store.notificationPages(body))
            }
            let all = try store.payloads(try await store.notificationPages(store.wholeReach))
            let renewed = try await found("\"notificationType\":\"DID_RENEW\"")
            #expect(renewed.count == all.filter { $0["notificationType"]?.string == "DID_RENEW" }.count)
            let bought = try await found("\"notificationType\":\"SUBSCRIBED\",\"notificationSubtype\":\"INITIAL_BUY\"")
            #expect(!bought.isEmpty && bought.allSatisfy { $0["subtype"]?.string == "INITIAL_BUY" })
            let failed = try await found("\"onlyFailures\":true")
            #expect(!failed.isEmpty && failed.count < all.count)
            var sum = 0
            for id in try store.ids { sum += try await found("\"transactionId\":\"\(id)\"").count }
            let nobodys = all.filter { payload in
                let type = payload["notificationType"]?.string
                return type == "TEST" || type == "EXTERNAL_PURCHASE_TOKEN" || payload["summary"] != nil
            }
            #expect(sum + nobodys.count == all.count)
        }
    }

    @Test func `bodies that are not valid get the documented code`() async throws {
        try await TestStore.run(customers: 2) { store in
            let now = store.clock.now.rawValue
            let day: Int64 = 86_400_000
            let dates = "\"startDate\":\(now - day),\"endDate\":\(now)"
            let cases: [(String, Int64)] = [
                ("", 4_000_000), ("[]", 4_000_000), ("{", 4_000_000), ("{}", 4_000_015),
                ("{\"startDate\":\"1\",\"endDate\":2}", 4_000_015), ("{\"startDate\":\(now)}", 4_000_016),
                ("{\"startDate\":\(now - 180 * day - 1),\"endDate\":\(now)}", 4_000_012),
                ("{\"startDate\":\(now),\"endDate\":\(now - 1)}", 4_000_013),
                ("{\(dates),\"notificationType\":\"LOTTERY\"}", 4_000_018),
                ("{\(dates),\"notificationType\":\"EXPIRED\",\"notificationSubtype\":\"X\"}", 4_000_018),
                ("{\(dates),\"notificationType\":\"TEST\",\"transactionId\":\"430000000000000\"}", 4_000_019),
                ("{\(dates),\"transactionId\":\"abc\"}", 4_000_006), ("{\(dates),\"transactionId\":\"1\"}", 4_040_010),
            ]
            for (body, code) in cases {
                let answer = try await store.post(TestStore.notifications, body: body)
                #expect(answer.errorCode == code, "\(body)")
            }
            let earliest = "{\"startDate\":\(now - 180 * day),\"endDate\":\(now)}"
            #expect(try await store.post(TestStore.notifications, body: earliest).status == 200)
        }
    }

    @Test func `the sandbox reaches back thirty days and does not name the app's number`() async throws {
        try await TestStore.run(customers: 5, configure: { $0.environment = .sandbox }) { store in
            let now = store.clock.now.rawValue
            let far = "{\"startDate\":\(now - 31 * 86_400_000),\"endDate\":\(now)}"
            #expect(try await store.post(TestStore.notifications, body: far).errorCode == 4_000_012)
            let page = try await store.get(TestStore.history(try #require(try store.ids.first))).json
            #expect(page["environment"]?.string == "Sandbox" && page["appAppleId"] == nil)
        }
    }
}
