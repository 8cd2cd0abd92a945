import AppStoreModel
import StrictJSON
import Testing

@testable import AppStoreSimulator

struct ConsumptionTests {
    /// A CONSUMPTION_REQUEST and the transaction it is about.
    private struct Request {
        let uuid: String
        let date: Int64
        let transaction: JSONObject
        var id: String { transaction["transactionId"]?.string ?? "" }
        var isSubscription: Bool { transaction["type"]?.string == "Auto-Renewable Subscription" }
        var isAdvanced: Bool { transaction["advancedCommerceInfo"] != nil }
    }

    private func requests(_ store: TestStore, _ type: String = "CONSUMPTION_REQUEST") async throws -> [Request] {
        try await store.world("notification").compactMap { uuid, value in
            guard let notification = value.object, notification["notificationType"]?.string == type,
                let jws = notification["data"]?.object?["signedTransactionInfo"]?.string
            else { return nil }
            return Request(
                uuid: uuid,
                date: notification.moment("signedDate") ?? 0,
                transaction: try store.payload(jws)
            )
        }
    }

    /// Lets customers ask for refunds; returns the new requests.
    private func open(_ store: TestStore, count: Int = 12) async throws -> [Request] {
        let known = try await Set(requests(store).map(\.uuid))
        _ = try await store.post("/simulator/advance", body: "{\"refundRequests\":\(count)}")
        return try await requests(store).filter { !known.contains($0.uuid) }.sorted { $0.date < $1.date }
    }

    private func v2(_ id: String) -> String { "/inApps/v2/transactions/consumption/\(id)" }
    private func v1(_ id: String) -> String { "/inApps/v1/transactions/consumption/\(id)" }

    private func body(_ more: String = "", delivery: String = "DELIVERED") -> String {
        "{\"customerConsented\":true,\"deliveryStatus\":\"\(delivery)\",\"sampleContentProvided\":false\(more)}"
    }

    private static let bodyV1 = """
        {"accountTenure":1,"appAccountToken":"","consumptionStatus":1,"customerConsented":true,"deliveryStatus":0,
         "lifetimeDollarsPurchased":2,"lifetimeDollarsRefunded":0,"platform":1,"playTime":3,"refundPreference":2,
         "sampleContentProvided":false,"userStatus":1}
        """

    @Test func `an answered request is decided by the next change, as the app prefers, and not repeated`() async throws
    {
        try await TestStore.run(customers: 60) { store in
            let now = store.clock.now.rawValue
            let open = try await open(store, count: 40)
            #expect(open.count == 40 && open.allSatisfy { now - $0.date < 12 * Moment.hour && $0.date < now })
            #expect(open.contains(where: \.isAdvanced) && open.contains(where: \.isSubscription))
            var expected: [String: (type: String, percentage: Int64?)] = [:]
            for (index, request) in open.enumerated() {
                if request.isAdvanced {
                    #expect(try await store.put(v2(request.id), body: body()).status == 400)
                    #expect(try await store.put(v1(request.id), body: Self.bodyV1).status == 202)
                    expected[request.id] = ("REFUND_DECLINED", nil)
                    continue
                }
                let kind = index % 4
                let preference = ["DECLINE", "GRANT_FULL", "GRANT_PRORATED", ""][kind]
                var more = preference.isEmpty ? "" : ",\"refundPreference\":\"\(preference)\""
                if kind == 2, !request.isSubscription { more += ",\"consumptionPercentage\":25000" }
                let answer = try await store.put(v2(request.id), body: body(more))
                #expect(answer.status == 202 && answer.body.isEmpty)
                switch kind {
                case 0: expected[request.id] = ("REFUND_DECLINED", nil)
                case 1: expected[request.id] = ("REFUND", 100_000)
                case 2: expected[request.id] = ("REFUND", request.isSubscription ? nil : 75_000)
                default: break
                }
            }
            store.clock.advance(by: .seconds(600))
            _ = try await store.post("/simulator/advance", body: "{\"changes\":1}")
            let refunds = try await requests(store, "REFUND")
            let declined = try await requests(store, "REFUND_DECLINED")
            for request in open {
                let decisions = [refunds, declined].map { list in
                    list.filter { $0.id == request.id && $0.date > request.date }
                }
                #expect(decisions[0].count + decisions[1].count == 1, "\(request.id)")
                guard let wanted = expected[request.id] else { continue }
                let decision = try #require(wanted.type == "REFUND" ? decisions[0].first : decisions[1].first)
                #expect((decision.transaction["revocationDate"] != nil) == (wanted.type == "REFUND"))
                if let percentage = wanted.percentage {
                    #expect(decision.transaction.moment("revocationPercentage") == percentage)
                }
            }
            // Nothing is open any more.
            let count = try await requests(store).count
            _ = try await store.post("/simulator/advance", body: "{\"changes\":1}")
            #expect(try await requests(store).count == count)
        }
    }

    @Test func `an unanswered request is repeated under another UUID, and decided after twelve hours`() async throws {
        try await TestStore.run(customers: 20) { store in
            let first = try #require(try await open(store, count: 1).first)
            store.clock.advance(by: .seconds(3_600))
            _ = try await store.post("/simulator/advance", body: "{\"changes\":1}")
            let again = try await requests(store).filter { $0.id == first.id && $0.date >= first.date }
            #expect(again.count == 2)
            store.clock.advance(by: .seconds(12 * 3_600))
            _ = try await store.post("/simulator/advance", body: "{\"changes\":1}")
            #expect(try await requests(store).filter { $0.id == first.id && $0.date >= first.date }.count == 2)
            let decisions = try await requests(store, "REFUND") + requests(store, "REFUND_DECLINED")
            #expect(decisions.count { $0.id == first.id && $0.date > first.date } == 1)
        }
    }

    @Test func `the last answer counts`() async throws {
        try await TestStore.run(customers: 20) { store in
            let request = try #require(try await open(store).first { !$0.isAdvanced })
            for preference in ["GRANT_FULL", "DECLINE", "DECLINE"] {
                let more = ",\"refundPreference\":\"\(preference)\""
                #expect(try await store.put(v2(request.id), body: body(more)).status == 202)
            }
            let lines = try await store.actions
            #expect(lines.map { $0.moment("requested") } == [1, 2] && lines.map { $0.moment("applied") } == [1, 1])
            #expect(lines.last?["body"]?.object?["refundPreference"]?.string == "DECLINE")
            store.clock.advance(by: .seconds(600))
            _ = try await store.post("/simulator/advance", body: "{\"changes\":1}")
            #expect(try await requests(store, "REFUND_DECLINED").contains { $0.id == request.id })
        }
    }

    @Test(
        arguments: [
            ("\"customerConsented\":true", "\"customerConsented\":false", 4_000_035),
            ("\"customerConsented\":true,", "", 4_000_035),
            ("DELIVERED", "LOST", 4_000_036), ("\"DELIVERED\"", "0", 4_000_036),
            ("\"sampleContentProvided\":false", "\"sampleContentProvided\":\"no\"", 4_000_041),
            ("}", ",\"refundPreference\":\"GRANT\"}", 4_000_044),
            ("}", ",\"refundPreference\":\"GRANT_PRORATED\"}", 4_000_044),
            ("}", ",\"refundPreference\":\"GRANT_PRORATED\",\"consumptionPercentage\":100000}", 4_000_044),
            ("}", ",\"consumptionPercentage\":100001}", 4_000_000),
            ("\"DELIVERED\"", "\"UNDELIVERED_OTHER\",\"consumptionPercentage\":1", 4_000_000),
            ("\"DELIVERED\"", "\"UNDELIVERED_OTHER\"", 4_000_000),
            ("}", ",\"playTime\":1}", 4_000_000),
        ] as [(String, String, Int64)]
    )
    func `a body of version 2 that is not valid gets the documented code`(old: String, new: String, code: Int64)
        async throws
    {
        try await TestStore.run(customers: 20) { store in
            let purchase = try await store.world("transaction").values.compactMap(\.object)
                .first { $0["type"]?.string == "Consumable" && $0["advancedCommerceInfo"] == nil }
            let id = try #require(purchase?["transactionId"]?.string)
            let answer = try await store.put(v2(id), body: body().replacing(old, with: new))
            #expect(answer.errorCode == code && answer.status == 400)
            #expect(try await store.actions.isEmpty)
        }
    }

    @Test func `an answer of version 2 fits its transaction`() async throws {
        try await TestStore.run(customers: 60) { store in
            let all = try await store.world("transaction").values.compactMap(\.object)
            func id(_ matches: (JSONObject) -> Bool) throws -> String {
                try #require(all.first(where: matches)?["transactionId"]?.string)
            }
            let subscription = try id {
                $0["type"]?.string == "Auto-Renewable Subscription" && $0["advancedCommerceInfo"] == nil
                    && $0["inAppOwnershipType"]?.string == "PURCHASED"
            }
            let percentage = try await store.put(v2(subscription), body: body(",\"consumptionPercentage\":0"))
            #expect(percentage.errorCode == 4_000_209)
            let undelivered = try await store.put(v2(subscription), body: body(delivery: "UNDELIVERED_OTHER"))
            #expect(undelivered.status == 202)
            let coins = try id { $0["type"]?.string == "Consumable" && $0["advancedCommerceInfo"] == nil }
            let zero = body(",\"consumptionPercentage\":0", delivery: "UNDELIVERED_OTHER")
            let answer = try await store.put(v2(coins), body: zero)
            #expect(answer.status == 202)
            let family = try id { $0["inAppOwnershipType"]?.string == "FAMILY_SHARED" }
            #expect(try await store.put(v2(family), body: body()).errorCode == 4_000_185)
            let app = try #require(all.first?["appTransactionId"]?.string)
            for (id, code) in [(app, 4_000_048), ("x", 4_000_006), ("1", 4_040_010)] as [(String, Int64)] {
                #expect(try await store.put(v2(id), body: body()).errorCode == code)
                #expect(try await store.put(v1(id), body: Self.bodyV1).errorCode == code)
            }
            let pass = try id { $0["type"]?.string == "Non-Renewing Subscription" }
            #expect(try await store.put(v1(pass), body: Self.bodyV1).errorCode == 4_000_047)
            #expect(try await store.put(v1(subscription), body: Self.bodyV1).status == 202)
        }
    }

    @Test(
        arguments: [
            ("accountTenure", "8", 4_000_032), ("appAccountToken", "\"me\"", 4_000_033),
            ("consumptionStatus", "4", 4_000_034), ("customerConsented", "false", 4_000_035),
            ("deliveryStatus", "6", 4_000_036), ("lifetimeDollarsPurchased", "8", 4_000_037),
            ("lifetimeDollarsRefunded", "-1", 4_000_038), ("platform", "3", 4_000_039),
            ("playTime", "\"1\"", 4_000_040),
            ("sampleContentProvided", "0", 4_000_041), ("userStatus", "5", 4_000_042),
            ("refundPreference", "4", 4_000_044),
        ] as [(String, String, Int64)]
    )
    func `each member of version 1 is required and has a separate error`(member: String, value: String, code: Int64)
        async throws
    {
        try await TestStore.run(customers: 20) { store in
            let purchase = try await store.world("transaction").values.compactMap(\.object)
                .first { $0["type"]?.string == "Consumable" }
            let path = v1(try #require(purchase?["transactionId"]?.string))
            var object = try StrictJSON.parseObject(Array(Self.bodyV1.utf8))
            object.members.removeAll { $0.key == member }
            let without = JSONWriter.text(.object(object))
            #expect(try await store.put(path, body: without).errorCode == code)
            let wrong = without.replacing("{", with: "{\"\(member)\":\(value),")
            #expect(try await store.put(path, body: wrong).errorCode == code)
            let longer = Self.bodyV1.replacing("{", with: "{\"extra\":1,")
            #expect(try await store.put(path, body: longer).errorCode == 4_000_000)
            #expect(try await store.put(path, body: Self.bodyV1).status == 202)
        }
    }
}
