import AppStoreModel
import Foundation
import Glibc
import SignedData
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import AppStoreSimulator

/// Notifications that the simulator posts, with Apple's attempts, and the history that agrees with them.
struct DeliveryTests {
    private static let hour: Int64 = 3_600_000
    private static let path = "/inApps/v1/notifications/test"

    /// Runs a store that posts to a server which answers as `answer` says.
    private func posting(
        answering answer: @escaping @Sendable (WebhookServer.Request) -> Int = { _ in 200 },
        configure: (inout SimulatorConfiguration) -> Void = { _ in },
        _ body: (TestStore, WebhookServer) async throws -> Void
    ) async throws {
        let server = try WebhookServer(answering: answer)
        defer { server.stop() }
        try await TestStore.run(
            customers: 4,
            configure: { configuration in
                configuration.delivery = DeliverySettings(url: "http://127.0.0.1:\(server.port)/notifications")
                configure(&configuration)
            }
        ) { store in try await body(store, server) }
    }

    /// The lines of `GET /simulator/deliveries`, once they satisfy a condition.
    @discardableResult
    private func deliveries(
        _ store: TestStore,
        until isEnough: ([JSONObject]) -> Bool
    ) async throws -> [JSONObject] {
        while true {
            let body = try await store.get("/simulator/deliveries", token: .some(nil)).body
            let lines = try body.split(separator: UInt8(ascii: "\n")).map { try StrictJSON.parseObject(Array($0)) }
            if isEnough(lines) { return lines }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private func change(_ store: TestStore, _ count: Int = 1) async throws {
        #expect(try await store.post("/simulator/advance", body: "{\"changes\":\(count)}").status == 200)
    }

    /// Changes the world until a notification is posted, because version 1 does not know every change.
    private func changeUntilPosted(_ store: TestStore) async throws {
        while try await deliveries(store, until: { _ in true }).isEmpty { try await change(store) }
    }

    /// The attempts of each notification in the history, by UUID.
    private func history(_ store: TestStore, filter: String = "") async throws -> [String: [SendAttempt]] {
        let end = store.clock.now.rawValue
        let body = "{\"startDate\":\(end - 600 * Self.hour),\"endDate\":\(end)\(filter)}"
        let pages = try await store.notificationPages(body)
        var found: [String: [SendAttempt]] = [:]
        for (payload, record) in zip(try store.payloads(pages), pages.flatMap(\.records)) {
            guard case .notification(_, let elements) = record else { continue }
            found[payload["notificationUUID"]?.string ?? ""] = elements.compactMap(\.value.object).map(Self.attempt)
        }
        return found
    }

    private static func attempt(_ object: JSONObject) -> SendAttempt {
        SendAttempt(date: object.moment("attemptDate") ?? 0, result: object["sendAttemptResult"]?.string ?? "")
    }

    private static func attempts(_ delivery: JSONObject) -> [SendAttempt] {
        (delivery["sendAttempts"]?.array ?? []).compactMap(\.object).map(attempt)
    }

    private static func uuid(_ delivery: JSONObject) -> String { delivery["notificationUUID"]?.string ?? "" }

    private static func isDone(_ delivery: JSONObject) -> Bool { delivery["nextAttemptDate"] == nil }

    @Test(arguments: [200, 201, 206])
    func `a status from 200 to 206 ends the attempts, and the history has one success`(_ status: Int) async throws {
        try await posting(answering: { _ in status }) { store, server in
            try await change(store, 5)
            let lines = try await deliveries(store) { $0.count == 5 && $0.allSatisfy(Self.isDone) }
            let listed = try await history(store)
            for line in lines {
                #expect(Self.attempts(line).map(\.result) == ["SUCCESS"])
                #expect(listed[Self.uuid(line)] == Self.attempts(line))
            }
            #expect(server.requests.count == 5)
            #expect(server.requests.allSatisfy { $0.head.hasPrefix("POST /notifications ") })
            let bodies = try server.requests.map { try StrictJSON.parseObject(Array($0.body.utf8)) }
            let posted = try bodies.map { try store.payload($0["signedPayload"]?.string)["notificationUUID"]?.string }
            #expect(Set(posted.compactMap(\.self)) == Set(lines.map(Self.uuid)))
        }
    }

    @Test func `a failed attempt is made again after 1, 12, 24, 48 and 72 hours, and not a seventh time`()
        async throws
    {
        try await posting(answering: { _ in 503 }) { store, server in
            try await change(store)
            let start = store.clock.now.rawValue
            var expected: [Int64] = [start]
            for hours in [1, 12, 24, 48, 72] as [Int64] {
                let made = expected.count
                try await deliveries(store) { Self.attempts($0[0]).count == made }
                store.clock.advance(by: .seconds(hours * 3_600 - 1))
                let failing = try await history(store, filter: ",\"onlyFailures\":true")
                #expect(failing.values.contains { $0.count == made })
                store.clock.advance(by: .seconds(1))
                expected.append(store.clock.now.rawValue)
            }
            let line = try #require(try await deliveries(store) { Self.isDone($0[0]) }.first)
            store.clock.advance(by: .seconds(1_000 * 3_600))
            #expect(Self.attempts(line).map(\.date) == expected)
            #expect(Set(Self.attempts(line).map(\.result)) == ["UNSUCCESSFUL_HTTP_RESPONSE_CODE"])
            #expect(server.requests.count == 6 && Set(server.requests.map(\.body)).count == 1)
        }
    }

    @Test func `with a retry speed the pauses are shorter`() async throws {
        try await posting(answering: { _ in 503 }, configure: { $0.delivery?.retrySpeed = 3_600 }) { store, _ in
            try await change(store)
            let start = store.clock.now.rawValue
            try await deliveries(store) { Self.attempts($0[0]).count == 1 }
            store.clock.advance(by: .seconds(1))
            try await deliveries(store) { Self.attempts($0[0]).count == 2 }
            store.clock.advance(by: .seconds(12))
            let lines = try await deliveries(store) { Self.attempts($0[0]).count == 3 }
            #expect(Self.attempts(lines[0]).map(\.date) == [start, start + 1_000, start + 13_000])
            #expect(lines[0].moment("nextAttemptDate") == start + 37_000)
        }
    }

    @Test func `the sandbox tries once`() async throws {
        try await posting(answering: { _ in 503 }, configure: { $0.environment = .sandbox }) { store, server in
            try await change(store)
            try await deliveries(store) { Self.attempts($0[0]).count == 1 && Self.isDone($0[0]) }
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a server that hangs up or is not there has Apple's names for it`() async throws {
        let listener = try LoopbackListener()
        listener.serve { client in
            _ = receive(from: client)
            close(client)
        }
        let settings = DeliverySettings(url: "http://127.0.0.1:\(listener.port)/notifications")
        try await TestStore.run(customers: 4, configure: { $0.delivery = settings }) { store in
            try await change(store)
            try await deliveries(store) { Self.attempts($0[0]).map(\.result) == ["NO_RESPONSE"] }
            listener.stop()
            store.clock.advance(by: .seconds(3_600))
            try await deliveries(store) { Self.attempts($0[0]).map(\.result) == ["NO_RESPONSE", "SOCKET_ISSUE"] }
        }
    }

    @Test func `a test notification is posted, and its status has the same attempts`() async throws {
        let isOpen = Mutex(false)
        try await posting(answering: { _ in isOpen.withLock { $0 } ? 200 : 503 }) { store, server in
            let token = try #require(try await store.post(Self.path, body: "").json["testNotificationToken"]?.string)
            try await deliveries(store) { $0.count == 1 && Self.attempts($0[0]).count == 1 }
            isOpen.withLock { $0 = true }
            store.clock.advance(by: .seconds(3_600))
            let line = try #require(try await deliveries(store) { Self.isDone($0[0]) }.first)
            let status = try await store.get("\(Self.path)/\(token)").json
            #expect(try store.payload(status["signedPayload"]?.string)["notificationUUID"]?.string == Self.uuid(line))
            #expect(Self.attempts(status) == Self.attempts(line))
            #expect(Self.attempts(line).map(\.result) == ["UNSUCCESSFUL_HTTP_RESPONSE_CODE", "SUCCESS"])
            #expect(server.requests.count == 2)
        }
    }

    private func setDeliveryFaults(_ store: TestStore, _ rule: String) async throws {
        #expect(try await store.put("/simulator/delivery-faults", body: "{\"rules\":[\(rule)]}").status == 200)
    }

    @Test func `a dropped attempt is in the history, and no request reaches the receiver`() async throws {
        try await posting { store, server in
            try await setDeliveryFaults(store, #"{"fault":"drop","everyNth":2,"attempts":1,"result":"TIMED_OUT"}"#)
            try await change(store, 4)
            try await deliveries(store) { $0.allSatisfy { Self.attempts($0).count == 1 } }
            #expect(server.requests.count == 2)
            #expect(try await history(store).values.count { $0.map(\.result) == ["TIMED_OUT"] } >= 2)
            store.clock.advance(by: .seconds(3_600))
            try await deliveries(store) { $0.allSatisfy(Self.isDone) }
            #expect(server.requests.count == 4)
        }
    }

    @Test func `after a lost answer the same notification is sent again although it had arrived`() async throws {
        try await posting { store, server in
            try await setDeliveryFaults(store, #"{"fault":"loseAnswer"}"#)
            try await change(store)
            try await deliveries(store) { Self.attempts($0[0]).map(\.result) == ["TIMED_OUT"] }
            store.clock.advance(by: .seconds(3_600))
            let line = try #require(try await deliveries(store) { Self.isDone($0[0]) }.first)
            #expect(Self.attempts(line).map(\.result) == ["TIMED_OUT", "SUCCESS"])
            #expect(line.moment("answered") == 2 && server.requests.count == 2)
            #expect(Set(server.requests.map(\.body)).count == 1)
        }
    }

    @Test func `a duplicate comes again after 200, and the history has one attempt`() async throws {
        try await posting { store, server in
            try await setDeliveryFaults(store, #"{"fault":"duplicate"}"#)
            try await change(store)
            let line = try #require(try await deliveries(store) { Self.isDone($0[0]) }.first)
            #expect(Self.attempts(line).map(\.result) == ["SUCCESS"])
            #expect(server.requests.count == 2 && Set(server.requests.map(\.body)).count == 1)
        }
    }

    @Test func `a reordered notification comes after later ones`() async throws {
        try await posting(configure: { $0.delivery?.concurrency = 1 }) { store, server in
            try await setDeliveryFaults(store, #"{"fault":"reorder","times":1,"by":3}"#)
            try await change(store, 6)
            let lines = try await deliveries(store) { $0.allSatisfy(Self.isDone) }
            let posted = try server.requests.map { request in
                let body = try StrictJSON.parseObject(Array(request.body.utf8))
                return try store.payload(body["signedPayload"]?.string)["notificationUUID"]?.string ?? ""
            }
            let sent = lines.map(Self.uuid)
            #expect(posted == [sent[1], sent[2], sent[0], sent[3], sent[4], sent[5]] || posted.first != sent[0])
            #expect(Set(posted) == Set(sent))
        }
    }

    @Test func `an unlisted notification is posted, and in the history only after the fault ends`() async throws {
        try await posting { store, server in
            try await setDeliveryFaults(store, #"{"fault":"unlist"}"#)
            try await change(store)
            let line = try #require(try await deliveries(store) { Self.isDone($0[0]) }.first)
            #expect(server.requests.count == 1)
            #expect(try await history(store)[Self.uuid(line)] == nil)
            try await setDeliveryFaults(store, "")
            #expect(try await history(store)[Self.uuid(line)] == Self.attempts(line))
        }
    }

    @Test func `version 1 is not signed, has the shared secret, and is not in the history`() async throws {
        let isOne: (inout SimulatorConfiguration) -> Void = { configuration in
            configuration.delivery?.version = .one
            configuration.delivery?.sharedSecret = "hush"
        }
        try await posting(answering: { _ in 503 }, configure: isOne) { store, server in
            try await changeUntilPosted(store)
            for (made, hours) in [(1, 6), (2, 24), (3, 48)] {
                try await deliveries(store) { Self.attempts($0[0]).count == made }
                store.clock.advance(by: .seconds(hours * 3_600))
            }
            let line = try #require(try await deliveries(store) { Self.isDone($0[0]) }.first)
            #expect(Self.attempts(line).count == 4)
            let body = try StrictJSON.parseObject(Array(try #require(server.requests.first).body.utf8))
            #expect(body["password"]?.string == "hush" && body["signedPayload"] == nil)
            #expect(body["original_transaction_id"]?.string != nil && body["notification_type"]?.string != nil)
            #expect(try await history(store)[Self.uuid(line)] == nil)
        }
    }

    @Test
    func
        `a test notification is one of version 2 also for a version 1 URL, and events of version 2 alone are not posted`()
        async throws
    {
        try await posting(configure: { $0.delivery?.version = .one }) { store, server in
            try await change(store, 40)
            #expect(try await store.post(Self.path, body: "").status == 200)
            let lines = try await deliveries(store) { lines in lines.allSatisfy { Self.isDone($0) } }
            #expect((2...40).contains(lines.count))
            let bodies = try server.requests.map { try StrictJSON.parseObject(Array($0.body.utf8)) }
            #expect(bodies.count { $0["signedPayload"] != nil } == 1)
            #expect(
                bodies.filter { $0["signedPayload"] == nil }.allSatisfy {
                    $0["notification_type"]?.string != "ONE_TIME_CHARGE"
                }
            )
        }
    }

    @Test func `a restarted simulator has the earlier attempts, and continues with them`() async throws {
        let isOpen = Mutex(false)
        let server = try WebhookServer(answering: { _ in isOpen.withLock { $0 } ? 200 : 503 })
        defer { server.stop() }
        let directory = FileManager.default.temporaryDirectory.path + "/store-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }  // Only cleans up.
        var configuration = SimulatorConfiguration(directory: directory)
        configuration.customers = 4
        configuration.anchor = "2026-10-01T00:00:00Z"
        configuration.rateLimit = .none
        configuration.delivery = DeliverySettings(url: "http://127.0.0.1:\(server.port)/notifications")
        let clock = ManualClock()
        var before: [JSONObject] = []
        try await TestStore.run(configuration, clock: clock) { store in
            try await change(store, 3)
            before = try await deliveries(store) { $0.count == 3 && $0.allSatisfy { Self.attempts($0).count == 1 } }
        }
        isOpen.withLock { $0 = true }
        try await TestStore.run(configuration, clock: clock) { store in
            let after = try await deliveries(store) { _ in true }
            #expect(after.map(Self.attempts) == before.map(Self.attempts))
            #expect(after.map(Self.uuid) == before.map(Self.uuid))
            clock.advance(by: .seconds(3_600))
            let done = try await deliveries(store) { $0.allSatisfy(Self.isDone) }
            #expect(done.allSatisfy { Self.attempts($0).map(\.result).last == "SUCCESS" })
        }
    }

    @Test func `RC5 a fault of deliveries that is not valid is refused with its problem`() async throws {
        try await posting { store, _ in
            for (body, problem) in [
                ("[]", "Send"), (#"{"rules":[{"fault":"lose"}]}"#, "Send"),
                (#"{"rules":[{"fault":"drop","every":2}]}"#, "every"),
                (#"{"rules":[{"fault":"drop","everyNth":0}]}"#, "everyNth"),
                (#"{"rules":[{"fault":"drop","result":"SUCCESS"}]}"#, "result"),
                (#"{"rules":[{"fault":"drop","notificationType":"LOTTERY"}]}"#, "LOTTERY"),
            ] {
                let answer = try await store.put("/simulator/delivery-faults", body: body)
                let said = String(decoding: answer.body, as: UTF8.self)
                #expect(answer.status == 400 && said.contains(problem), "\(body)")
            }
        }
        try await TestStore.run(customers: 1) { store in
            let answer = try await store.put("/simulator/delivery-faults", body: "{\"rules\":[]}")
            #expect(answer.status == 400)
        }
    }

    @Test func `RC6 options of deliveries that are out of range are refused`() {
        for change in [{ $0.url = "notifications" }, { $0.retrySpeed = 0 }, { $0.concurrency = 0 }]
            as [(inout DeliverySettings) -> Void]
        {
            var settings = DeliverySettings(url: "http://127.0.0.1:1/notifications")
            change(&settings)
            #expect(throws: SimulatorError.self) { try settings.check() }
        }
    }
}
